// Real servers keep the contract of object_store.h, through our client.
#include "batchweave/testing/conformance.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "batchweave/store/full_probe.h"
#include "batchweave/testing/matchers.h"
#include "tests/cloud/local_server.h"

namespace batchweave {
namespace {

// One for all tests: each has a prefix of its own.
LocalServer* Versitygw() {
  static const std::unique_ptr<LocalServer> server = LocalServer::Versitygw();
  return server.get();
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

std::unique_ptr<StoreUnderTest> MakeVersitygw() {
  static int made = 0;
  if (Versitygw() == nullptr) return nullptr;
  return std::make_unique<CloudUnderTest>(*Versitygw(), fmt::format("store-{}", made++));
}

// Covers F1.
INSTANTIATE_TEST_SUITE_P(S3, ObjectStoreConformance, ::testing::Values(ConformanceCase{"versitygw", MakeVersitygw}),
                         CaseName);

TEST(CloudProbeTest, AGoodServerPassesTheFullProbe) {
  if (Versitygw() == nullptr) GTEST_SKIP() << "not installed";
  CloudUnderTest first(*Versitygw(), "probed");
  CloudUnderTest second(*Versitygw(), "probed");
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
