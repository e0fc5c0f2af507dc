#include "batchweave/stream/open_env.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>

#include "batchweave/store/local_store.h"
#include "batchweave/store/memory_store.h"

namespace batchweave {
namespace {

Result<std::unique_ptr<ObjectStore>> OpenStore(std::string_view url, EnvOptions options) {
  constexpr std::string_view kFile = "file://";
  if (url == "memory:") return std::unique_ptr<ObjectStore>(std::make_unique<MemoryStore>());
  const bool is_file = url.starts_with(kFile);
  const std::string_view path = is_file ? url.substr(kFile.size()) : url;
  if (path.empty() || (is_file && !path.starts_with('/')) || (!is_file && path.find("://") != std::string_view::npos)) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("not a store that this software knows: url={}: use file:///absolute/path, a path, or memory:",
                    url)};
  }
  return LocalStore::Open(std::string(path), {.durability = options.durability});
}

}  // namespace

OwnedEnv::OwnedEnv(std::unique_ptr<ObjectStore> store, std::unique_ptr<Clock> clock, std::unique_ptr<Random> random,
                   std::unique_ptr<Threads> threads)
    : store_(std::move(store)), clock_(std::move(clock)), random_(std::move(random)), threads_(std::move(threads)) {}

OwnedEnv::~OwnedEnv() = default;

Result<std::unique_ptr<OwnedEnv>> OpenEnv(std::string_view url, EnvOptions options) {
  return std::make_unique<OwnedEnv>(BW_TRY(OpenStore(url, options)), std::make_unique<SystemClock>(),
                                    std::make_unique<SystemRandom>(), std::make_unique<SystemThreads>());
}

}  // namespace batchweave
