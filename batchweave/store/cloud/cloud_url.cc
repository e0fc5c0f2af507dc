#include <algorithm>
#include <array>

#include "batchweave/store/cloud/cloud_store.h"

namespace batchweave {

bool IsCloudUrl(std::string_view url) {
  constexpr std::array<std::string_view, 3> kSchemes = {"s3://", "gs://", "az://"};
  return std::ranges::any_of(kSchemes, [&](std::string_view scheme) { return url.starts_with(scheme); });
}

}  // namespace batchweave
