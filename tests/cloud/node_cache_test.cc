// The ranks of a host as processes, with one cache, on real servers: each slice comes once.
#include <filesystem>
#include <memory>
#include <vector>

#include "batchweave/testing/child_process.h"
#include "batchweave/testing/temporary_directory.h"
#include "tests/cloud/fault_proxy.h"
#include "tests/cloud/stream_on_server.h"

namespace batchweave {
namespace {

constexpr uint64_t kBatches = 30;

using CloudNodeCacheTest = StreamOnServer;
INSTANTIATE_TEST_SUITE_P(Cloud, CloudNodeCacheTest, ::testing::ValuesIn(kServers), ServerName);

TEST_P(CloudNodeCacheTest, RanksOfOneHostAskForEachSliceOnce) {
  Publish(kBatches);
  FaultProxy proxy(server_->port());
  std::atomic<uint64_t> payload_gets = 0;
  proxy.Set([&](const HttpMessage& request) {
    if (request.method() == "GET" && request.target().find("data") != std::string_view::npos) ++payload_gets;
    return Fault{};
  });
  const TemporaryDirectory directory("/dev/shm");
  const std::string url = server_->Url("runs", proxy.port());
  StorageOptions options = server_->options();
  options.emplace_back("node_cache_dir", directory.path() + "/cache");
  std::vector<std::unique_ptr<ChildProcess>> ranks;
  constexpr int kRanks = 4;
  for (int i = 0; i < kRanks; ++i) {
    ranks.push_back(std::make_unique<ChildProcess>([&] {
      const std::unique_ptr<OwnedEnv> own = OpenEnv(url, {.storage_options = options}).value();
      Stream stream = Stream::Open(own->env(), "run").value();
      ExpectRead(stream, 0, kBatches);
      return !HasFailure();
    }));
  }
  for (const auto& rank : ranks) EXPECT_TRUE(rank->Wait());
  // One copy; some more where a busy machine lets one wait too long for another.
  EXPECT_GE(payload_gets, kBatches);
  EXPECT_LE(payload_gets, kBatches * 3 / 2);
}

}  // namespace
}  // namespace batchweave
