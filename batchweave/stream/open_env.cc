#include "batchweave/stream/open_env.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>

#include "batchweave/format/keys.h"
#include "batchweave/store/local_store.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/store/node_cache_store.h"
#include "batchweave/stream/node_cache_options.h"
#include "batchweave/stream/stream_url.h"

namespace batchweave {
namespace {

Result<std::unique_ptr<ObjectStore>> OpenStore(std::string_view url, const EnvOptions& options,
                                               const StorageOptions& storage_options, Clock& clock, Random& random) {
  constexpr std::string_view kFile = "file://";
  if (url == "memory:") return std::unique_ptr<ObjectStore>(std::make_unique<MemoryStore>());
  if (IsCloudUrl(url)) {
    return std::unique_ptr<ObjectStore>(BW_TRY(OpenCloudStore(url, storage_options, clock, random)));
  }
  const bool is_file = url.starts_with(kFile);
  const std::string_view path = is_file ? url.substr(kFile.size()) : url;
  if (path.empty() || (is_file && !path.starts_with('/')) || (!is_file && path.find("://") != std::string_view::npos)) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format(
            "not a store that this software knows: url={}: use file:///absolute/path, a path, s3://bucket/prefix, "
            "gs://bucket/prefix, az://container/prefix, or memory:",
            ShownUrl(url))};
  }
  return LocalStore::Open(std::string(path), {.durability = options.durability});
}

}  // namespace

OwnedEnv::OwnedEnv(std::unique_ptr<Clock> clock, std::unique_ptr<Random> random, std::unique_ptr<Threads> threads,
                   std::unique_ptr<ObjectStore> store, UnfinishedUploads* uploads)
    : clock_(std::move(clock)),
      random_(std::move(random)),
      threads_(std::move(threads)),
      store_(std::move(store)),
      uploads_(uploads) {}

OwnedEnv::~OwnedEnv() = default;

Result<std::unique_ptr<OwnedEnv>> OpenEnv(std::string_view url, const EnvOptions& options) {
  auto clock = std::make_unique<SystemClock>();
  auto random = std::make_unique<SystemRandom>();
  const SplitNodeCache split = BW_TRY(SplitNodeCacheOptions(url, options.storage_options));
  std::unique_ptr<ObjectStore> store = BW_TRY(OpenStore(split.url, options, split.storage_options, *clock, *random));
  auto* const uploads = dynamic_cast<UnfinishedUploads*>(store.get());
  if (options.node_cache && !split.node_cache.dir.empty()) {
    std::unique_ptr<NodeCache> cache = BW_TRY(NodeCache::Open(split.node_cache, *clock));
    store = std::make_unique<NodeCacheStore>(std::move(store), std::move(cache), split.identity, NeverChanges, *clock,
                                             *random);
  }
  return std::make_unique<OwnedEnv>(std::move(clock), std::move(random), std::make_unique<SystemThreads>(),
                                    std::move(store), uploads);
}

}  // namespace batchweave
