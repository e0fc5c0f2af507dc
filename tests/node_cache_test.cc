// The ranks of a host as processes of their own, which share nothing but a store and a directory of copies.
#include "batchweave/store/node_cache_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "batchweave/format/keys.h"
#include "batchweave/store/local_store.h"
#include "batchweave/store/metered_store.h"
#include "batchweave/stream/stream.h"
#include "batchweave/testing/child_process.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/temporary_directory.h"
#include "tests/process.h"

namespace batchweave {
namespace {

constexpr uint64_t kSteps = 60;
constexpr size_t kSliceBytes = 200'000;

std::string Text(uint64_t step, uint32_t dp) { return fmt::format("step {} dp {}", step, dp); }

GlobalBatch Batch(uint64_t step) {
  GlobalBatch batch({.dp = 2, .cp = 1});
  for (const uint32_t dp : {0u, 1u}) {
    std::string text = Text(step, dp);
    text.resize(kSliceBytes, '.');
    EXPECT_THAT(batch.Set({.dp = dp}, ToBytes(text)), IsOk());
  }
  return batch;
}

// A rank, and what it asks the store for.
class RankProcess {
 public:
  RankProcess(const std::string& store, const NodeCacheOptions& cache)
      : local_(LocalStore::Open(store, {.durability = Durability::kNone}).value()) {
    auto all = std::make_unique<MeteredStore>(*local_, "/data/");
    data_ = all.get();
    cached_ = std::make_unique<NodeCacheStore>(
        std::move(all), NodeCache::Open(cache, clock_).value(), store, NeverChanges, clock_, random_,
        // However busy the machine is: that one waits for another is what is tried here.
        NodeCacheStore::Waits{.other_max = std::chrono::minutes(2)});
  }

  // Reads all steps of a sealed stream, and writes how many GETs of payload that took into the file `told`.
  bool ReadAll(uint32_t dp_rank, const std::string& told) {
    const Env env{.store = *cached_, .clock = clock_, .random = random_, .threads = threads_};
    Stream stream = Stream::Open(env, "run").value();
    Consumer rank = stream.OpenConsumer({.rank = {.dp_rank = dp_rank, .dp_size = 2}}).value();
    for (uint64_t step = 0;; ++step) {
      const Result<std::optional<RankBatch>> batch = rank.Next();
      if (!batch.ok()) return false;
      if (!batch->has_value()) {
        std::ofstream(told) << data_->usage().range_gets << " " << cached_->stats().found;
        return step == kSteps;
      }
      if (!AsText((*batch)->slices()[0].bytes).starts_with(Text(step, dp_rank))) return false;
    }
  }

 private:
  std::unique_ptr<ObjectStore> local_;
  MeteredStore* data_;
  SystemClock clock_;
  SystemRandom random_;
  SystemThreads threads_;
  std::unique_ptr<NodeCacheStore> cached_;
};

class NodeCacheProcessesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(store_);
    std::filesystem::create_directory(told_);
  }

  void Publish(uint64_t begin, uint64_t end) {
    Process process(store_);
    Stream stream = Stream::Open(process.env(), "run", {.create = true}).value();
    Producer producer = stream.OpenProducer("a").value();
    for (uint64_t step = begin; step < end; ++step) {
      ASSERT_THAT(producer.Publish(Batch(step), {.cursor = ToBytes(std::to_string(step))}), IsOk());
      if (step % 5 == 0) {
        ASSERT_THAT(producer.Flush(), IsOk());
      }
    }
    ASSERT_THAT(producer.Flush(), IsOk());
    if (end == kSteps) {
      ASSERT_THAT(stream.Seal(), IsOk());
    }
  }

  // Four ranks: two of each dp coordinate, as tensor-parallel ones are.
  std::vector<std::unique_ptr<ChildProcess>> StartRanks(uint64_t cache_bytes) {
    std::vector<std::unique_ptr<ChildProcess>> ranks;
    for (uint32_t i = 0; i < 4; ++i) {
      ranks.push_back(std::make_unique<ChildProcess>([=, this] {
        return RankProcess(store_, {.dir = cache_, .bytes_max = cache_bytes})
            .ReadAll(i / 2, fmt::format("{}/{}", told_, i));
      }));
    }
    return ranks;
  }

  // GETs of payload by all ranks.
  uint64_t PayloadGets() const {
    uint64_t sum = 0;
    for (const auto& file : std::filesystem::directory_iterator(told_)) {
      uint64_t gets = 0;
      std::ifstream(file.path()) >> gets;
      sum += gets;
    }
    return sum;
  }

  const TemporaryDirectory directory_{"/dev/shm"};
  const std::string store_ = directory_.path() + "/store";
  const std::string cache_ = directory_.path() + "/cache";
  const std::string told_ = directory_.path() + "/told";
};

// Covers I10.
TEST_F(NodeCacheProcessesTest, AHostReadsEachSliceOnce) {
  Publish(0, kSteps);
  for (const auto& rank : StartRanks(uint64_t{1} << 30)) EXPECT_TRUE(rank->Wait());
  EXPECT_EQ(PayloadGets(), 2 * kSteps);
  // And who comes later reads nothing.
  for (const auto& rank : StartRanks(uint64_t{1} << 30)) EXPECT_TRUE(rank->Wait());
  EXPECT_EQ(PayloadGets(), 0u);
}

TEST_F(NodeCacheProcessesTest, AHostThatFollowsReadsEachSliceOnce) {
  Publish(0, 1);
  const auto ranks = StartRanks(uint64_t{1} << 30);
  Publish(1, kSteps);
  for (const auto& rank : ranks) EXPECT_TRUE(rank->Wait());
  EXPECT_EQ(PayloadGets(), 2 * kSteps);
}

// The budget holds some steps only: what went may be read twice, and nothing is wrong.
TEST_F(NodeCacheProcessesTest, ASmallBudgetCostsRequestsOnly) {
  Publish(0, kSteps);
  for (const auto& rank : StartRanks(kNodeCacheBytesMin)) EXPECT_TRUE(rank->Wait());
  EXPECT_GE(PayloadGets(), 2 * kSteps);
  EXPECT_LE(PayloadGets(), 4 * kSteps);
}

TEST_F(NodeCacheProcessesTest, RanksThatAreKilledLeaveACacheThatIsRight) {
  Publish(0, kSteps);
  for (int round = 0; round < 10; ++round) {
    std::vector<std::unique_ptr<ChildProcess>> ranks = StartRanks(kNodeCacheBytesMin);
    while (!std::filesystem::exists(cache_ + "/usage")) {
    }
    for (const auto& rank : ranks) rank->Kill();
    for (const auto& rank : StartRanks(kNodeCacheBytesMin)) EXPECT_TRUE(rank->Wait());
    std::filesystem::remove(cache_ + "/usage");
  }
}

}  // namespace
}  // namespace batchweave
