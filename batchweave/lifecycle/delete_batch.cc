#include "batchweave/lifecycle/delete_batch.h"

#include <fmt/format.h>

#include "batchweave/base/check.h"

namespace batchweave {

Result<void> DeleteBatch(ObjectStore& store, std::span<const std::string> keys) {
  BW_CHECK(!keys.empty());
  Result<void> deleted = store.Delete(keys);
  if (!FailedWith(deleted, ErrorCode::kDenied)) return deleted;
  // A store need not say for which of the keys; what is missing for one is nearly always missing for its folder.
  return WithContext(deleted.error(),
                     fmt::format("the right to delete is missing: keys={} first={}", keys.size(), keys.front()));
}

}  // namespace batchweave
