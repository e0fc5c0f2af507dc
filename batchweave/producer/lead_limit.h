// Back-pressure: how far the stream may run ahead of its slowest group of readers, so that what lies unread is bounded.
// Readers tell how far they are by progress hints (log/progress.h); where there is no group, nobody is waited for.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "batchweave/base/result.h"
#include "batchweave/log/manifest_log.h"

namespace batchweave {

struct LeadLimits {
  uint64_t steps_max = 0;  // 0: no limit.
  uint64_t bytes_max = 0;  // Of data objects; 0: no limit.
  // Whose limit it is: while it waits it commits nothing, and would not learn otherwise that it was fenced or the stream
  // sealed. None: that is not looked at.
  std::string producer{};
  Incarnation incarnation{};
};

// What lies between the slowest group and the end of the stream.
struct Lead {
  Step reached;  // By the slowest group.
  Step end;
  uint64_t bytes = 0;
};

// Safe for concurrent use.
class LeadLimit {
 public:
  // `log` must outlive the limit.
  LeadLimit(ManifestLog& log, LeadLimits limits) : log_(log), limits_(std::move(limits)) {}

  // None: one more batch may be published. Else how far ahead the stream is: ask again later.
  // Reads the newest version and the hints, but not for each batch: after each look a share of what is left of the limit
  // passes unseen, so that many producers together exceed it by little.
  // Errors: kSealed, kFenced (no reader's progress will help any more), and those of the log.
  Result<std::optional<Lead>> Exceeded();

 private:
  Result<void> CheckOpen(const Manifest& newest) const;
  uint64_t Room(const Lead& lead) const;

  ManifestLog& log_;
  const LeadLimits limits_;
  std::mutex mutex_;
  uint64_t unseen_ = 0;  // Batches that may pass before the next look.
};

}  // namespace batchweave
