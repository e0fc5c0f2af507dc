// The options of the node cache, among those of the store.
#pragma once

#include <string>
#include <string_view>

#include "batchweave/base/result.h"
#include "batchweave/store/cloud/cloud_store.h"
#include "batchweave/store/node_cache.h"

namespace batchweave {

struct SplitNodeCache {
  std::string url{};                 // Without them.
  StorageOptions storage_options{};  // Without them.
  NodeCacheOptions node_cache{};     // An empty dir: none is wanted.
  std::string identity{};            // What tells the store from others on this host.
};

// Takes node_cache_dir and node_cache_bytes out of the query of a cloud store's URL and out of `options`, which go before.
// Errors: kInvalidArgument (no number; bytes without a directory).
Result<SplitNodeCache> SplitNodeCacheOptions(std::string_view url, const StorageOptions& options);

}  // namespace batchweave
