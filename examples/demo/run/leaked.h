// What lies in a stream's folder that nothing will ever read again.
#pragma once

#include <cstdint>

#include "batchweave/base/result.h"
#include "batchweave/log/manifest_log.h"

namespace batchweave::demo {

struct StoredBytes {
  uint64_t reached = 0;  // Data and history that the newest version reaches.
  uint64_t leaked = 0;   // What else lies there: objects that should be gone after a quiet reclaim (I9).
};

// To be asked when nobody writes. Errors: those of the store and the log.
Result<StoredBytes> CountStored(ManifestLog& log);

}  // namespace batchweave::demo
