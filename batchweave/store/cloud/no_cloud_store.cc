// In place of cloud_store.cc where the build has no Rust.
#include <fmt/format.h>

#include "batchweave/store/cloud/cloud_store.h"

namespace batchweave {

Result<std::unique_ptr<CloudStore>> OpenCloudStore(std::string_view url, const StorageOptions& /*options*/,
                                                   Clock& /*clock*/, Random& /*random*/, RetryPolicy /*policy*/) {
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("this build has no cloud stores: configure it with -DBATCHWEAVE_CLOUD=ON, which needs cargo "
                           "1.95 or newer: url={}",
                           url.substr(0, url.find('?')))};
}

}  // namespace batchweave
