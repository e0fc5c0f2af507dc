// Real servers keep the contract of object_store.h, through our client.
#include "batchweave/testing/conformance.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "batchweave/store/full_probe.h"
#include "batchweave/testing/local_server.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

// One of a kind for all tests: each has a prefix of its own.
LocalServer* Running(const ServerCase& item) {
  static std::map<std::string, std::unique_ptr<LocalServer>> servers;
  const auto [at, is_new] = servers.try_emplace(item.name);
  if (is_new) at->second = item.start();
  return at->second.get();
}

class CloudUnderTest final : public StoreUnderTest {
 public:
  CloudUnderTest(const LocalServer& server, const std::string& path)
      : store_(OpenCloudStore(server.Url(path), server.options(), clock_, random_).value()) {}
  ObjectStore& store() override { return *store_; }

 private:
  SystemClock clock_;
  SystemRandom random_;
  std::unique_ptr<ObjectStore> store_;
};

std::vector<ConformanceCase> Cases() {
  std::vector<ConformanceCase> cases;
  for (const ServerCase& item : kServers) {
    cases.push_back({.name = item.name,
                     .make = [item]() -> std::unique_ptr<StoreUnderTest> {
                       static int made = 0;
                       LocalServer* const server = Running(item);
                       if (server == nullptr) return nullptr;
                       return std::make_unique<CloudUnderTest>(*server, fmt::format("store-{}", made++));
                     },
                     // Of the 1024 bytes of a key MinIO counts them too.
                     .prefix_bytes = item.name == "minio" ? std::string("store-1000/").size() : 0});
  }
  return cases;
}

// Covers E3, F1.
INSTANTIATE_TEST_SUITE_P(Cloud, ObjectStoreConformance, ::testing::ValuesIn(Cases()), CaseName);

// As a person waits for it, whatever is tried again.
TEST(CloudMessageTest, AServerWithoutTlsIsNamedSoon) {
  LocalServer* const server = Running(kServers[0]);
  if (server == nullptr) GTEST_SKIP() << "not installed";
  SystemClock clock;
  SystemRandom random;
  StorageOptions options = server->options();
  options.emplace_back("endpoint", fmt::format("https://127.0.0.1:{}", server->port()));
  const auto store = OpenCloudStore("s3://bucket?region=us-east-1", options, clock, random).value();
  const TimePoint begun = clock.Now();
  EXPECT_THAT(store->Read("a"), IsError(ErrorCode::kUnavailable, ::testing::HasSubstr("does not speak TLS")));
  EXPECT_LT(clock.Now() - begun, std::chrono::seconds(20));
}

TEST(CloudMessageTest, AWrongKeyAndAWrongBucketAreNamed) {
  LocalServer* const server = Running(kServers[0]);
  if (server == nullptr) GTEST_SKIP() << "not installed";
  SystemClock clock;
  SystemRandom random;
  const std::string url = server->Url("wrong");
  const auto open = [&](const std::string& at, const StorageOptions& options) {
    return OpenCloudStore(at, options, clock, random).value();
  };
  EXPECT_THAT(open(url, {{"access_key_id", "nobody"}, {"secret_access_key", "x"}})->Read("a"),
              IsError(ErrorCode::kDenied, ::testing::HasSubstr("check the access key")));
  EXPECT_THAT(open(url, {{"access_key_id", "tester"}, {"secret_access_key", "x"}})->Read("a"),
              IsError(ErrorCode::kDenied, ::testing::HasSubstr("check the access key")));
  EXPECT_THAT(open("s3://other" + url.substr(std::string("s3://bucket").size()), server->options())->Read("a"),
              IsError(ErrorCode::kDenied, ::testing::HasSubstr("create the bucket")));
}

class CloudProbeTest : public ::testing::TestWithParam<ServerCase> {};
INSTANTIATE_TEST_SUITE_P(Cloud, CloudProbeTest, ::testing::ValuesIn(kServers), ServerName);

TEST_P(CloudProbeTest, AGoodServerPassesTheFullProbe) {
  LocalServer* const server = Running(GetParam());
  if (server == nullptr) GTEST_SKIP() << "not installed";
  CloudUnderTest first(*server, "probed");
  CloudUnderTest second(*server, "probed");
  SystemClock clock;
  SystemRandom random;
  SystemThreads threads;
  const Env env{.store = first.store(), .clock = clock, .random = random, .threads = threads};
  EXPECT_THAT(ProbeFully(env, second.store(), "probe/1/",
                         {.time_per_size = std::chrono::milliseconds(50), .object_bytes_max = uint64_t{8} << 20}),
              IsOk());
}

}  // namespace
}  // namespace batchweave
