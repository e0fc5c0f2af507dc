// One DELETE of many keys, and what to say where it is refused.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "batchweave/base/result.h"
#include "batchweave/store/object_store.h"

namespace batchweave {

// Keys of one DELETE: as many as S3 takes.
inline constexpr size_t kDeleteBatch = 1000;

// Deletes `keys`, at least one. Errors: kDenied (names a key for which the right to delete is missing: give it, and do
// again what led here), kUnavailable. Some may be gone.
Result<void> DeleteBatch(ObjectStore& store, std::span<const std::string> keys);

}  // namespace batchweave
