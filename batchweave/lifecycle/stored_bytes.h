// What a stream takes in its store: what its newest version reaches, and what nothing will ever read again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/log/manifest_log.h"

namespace batchweave {

struct StoredBytes {
  uint64_t reached = 0;  // Data and history that the newest version reaches.
  uint64_t leaked = 0;   // What else lies there of ours: objects that should be gone after a quiet reclaim (I9).
  std::vector<std::string> leaked_keys{};
  uint64_t not_understood = 0;  // Keys that are not ours: nobody counts on them or deletes them.
};

// To be asked when nobody writes: an upload that is not committed yet counts as leaked. Errors: those of the store and the
// log.
Result<StoredBytes> CountStored(ManifestLog& log);

}  // namespace batchweave
