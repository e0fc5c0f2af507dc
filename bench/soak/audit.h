// After a soak: what is left, and whether each batch was read exactly once, in order, and alike by all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/stream/stream.h"
#include "bench/soak/folder.h"

namespace batchweave::bench {

struct AuditedRank {
  std::string group{};
  size_t rank = 0;
};

// Who publishes.
struct SoakCrew {
  size_t producers = 0;     // Numbered from 0.
  size_t task_runners = 0;  // Each with tasks of its own: see task_producer.h.
};

struct SoakAudit {
  uint64_t steps = 0;
  uint64_t violations = 0;    // Steps that a rank read otherwise than the first one, batches missing, doubled or out of
                              // order, findings of a deep verify.
  uint64_t leaked_bytes = 0;  // Stored and not reached after a quiet reclaim, but for what stays for ever.
  uint64_t reclaimed_objects = 0;
};

// Trims and reclaims first; nobody else may be at work. Tells each violation on standard error, the first ones.
// Errors: those of the log and the store.
Result<SoakAudit> AuditSoak(Stream& stream, const SoakFolder& folder, const std::vector<AuditedRank>& ranks,
                            const SoakCrew& crew);

}  // namespace batchweave::bench
