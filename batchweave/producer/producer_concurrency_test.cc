#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "batchweave/producer/pipeline.h"
#include "batchweave/producer/producer_host.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/gated_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/seeded_random.h"
#include "batchweave/testing/stream_builder.h"

namespace batchweave {
namespace {

GlobalBatch Slices(uint64_t number, size_t size_bytes = 100) {
  GlobalBatch batch({.dp = 2, .cp = 1});
  for (const uint32_t dp : {0u, 1u})
    EXPECT_THAT(batch.SetCopy({.dp = dp}, TestSlice(number, {dp, 0}, size_bytes)), IsOk());
  return batch;
}

// Real threads and the real clock: what is tested never depends on how long anything takes.
class ProducerConcurrencyTest : public ::testing::Test {
 protected:
  Env Over(ObjectStore& store) { return {.store = store, .clock = clock_, .random = random_, .threads = threads_}; }
  ManifestLog LogOver(ObjectStore& store) { return {Over(store), stream_.keys(), stream_.stream_json_hash()}; }

  MemoryStore memory_;
  StreamBuilder stream_{memory_};
  SystemClock clock_;
  SeededRandom random_{1};
  SystemThreads threads_;
};

// Covers I3, I5, I7.
TEST_F(ProducerConcurrencyTest, BatchesOfManyThreadsAndProducersAppearOnceEach) {
  ManifestLog log = LogOver(memory_);
  ProducerHost host(Over(memory_), log);
  std::vector<Producer> producers;
  for (const char* name : {"a", "b", "c"}) producers.push_back(*host.Open(name, {}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 20; ++i) EXPECT_THAT(producers[t % 3].Publish(Slices(i), {}), IsOk());
      EXPECT_THAT(producers[t % 3].Flush(), IsOk());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::pair<std::string, uint64_t>> seen;
  const Manifest newest = log.ReadNewest()->manifest;
  for (const Entry& entry : newest.tail) EXPECT_TRUE(seen.emplace(entry.producer, entry.seq).second);
  EXPECT_EQ(newest.tail.size(), 120u);
  EXPECT_EQ(producers[0].stats().committed, 40u);
  EXPECT_EQ(producers[0].stats().pending_bytes, 0u);
}

// Two processes on one stream: each has a host of its own.
// Covers I1, I6.
TEST_F(ProducerConcurrencyTest, CommittersThatRaceLoseNothing) {
  std::vector<std::thread> processes;
  for (int p = 0; p < 4; ++p) {
    processes.emplace_back([&, p] {
      ManifestLog log = LogOver(memory_);
      ProducerHost host(Over(memory_), log);
      Result<Producer> producer = host.Open("p" + std::to_string(p), {});
      ASSERT_THAT(producer, IsOk());
      for (uint64_t i = 0; i < 25; ++i) {
        EXPECT_THAT(producer->Publish(Slices(i), {}), IsOk());
        if (i % 5 != 4) continue;
        EXPECT_THAT(producer->Flush(), IsOk());
      }
      EXPECT_THAT(producer->Finish(), IsOk());
    });
  }
  for (std::thread& process : processes) process.join();
  ManifestLog log = LogOver(memory_);
  const Manifest newest = log.ReadNewest()->manifest;
  EXPECT_EQ(newest.tail.size(), 100u);
  for (const ProducerRow& row : newest.rows) {
    EXPECT_EQ(row.seq, row.producer.starts_with('p') ? 25u : 0u);
  }
}

// Covers I12.
TEST_F(ProducerConcurrencyTest, CloseWakesWhoWaitsForRoomAndWhoWaitsForTheCommit) {
  GatedStore gated(memory_);
  ManifestLog log = LogOver(gated);
  ProducerHost host(Over(gated), log);
  Producer producer = *host.Open("a", {.pending_bytes_max = 300});
  gated.Close({.calls = kCallCreate, .key = KeyContains("/data/")});
  ASSERT_THAT(producer.Publish(Slices(1), {}), IsOk());
  gated.AwaitHeld();
  std::thread waits_for_room([&] { EXPECT_THAT(producer.Publish(Slices(2), {}), IsError(ErrorCode::kClosed)); });
  std::thread waits_for_commit([&] { EXPECT_THAT(producer.Flush(), IsError(ErrorCode::kClosed)); });
  producer.Close();
  waits_for_room.join();
  waits_for_commit.join();
  producer.Close();
  gated.Open();
}

// Covers G7.
TEST_F(ProducerConcurrencyTest, MemoryIsBoundedWhileTheStoreIsSlow) {
  GatedStore gated(memory_);
  ManifestLog log = LogOver(gated);
  ProducerHost host(Over(gated), log);
  Producer producer = *host.Open("a", {.pending_bytes_max = 1000});
  gated.Close({.calls = kCallCreate, .key = KeyContains("/data/")});
  std::atomic<uint64_t> most{0};
  std::thread source([&] {
    for (uint64_t i = 0; i < 30; ++i) {
      EXPECT_THAT(producer.Publish(Slices(i), {}), IsOk());
      most = std::max(most.load(), producer.stats().pending_bytes);
    }
  });
  for (int i = 0; i < 30; ++i) gated.Release();
  source.join();
  gated.Open();
  EXPECT_THAT(producer.Flush(), IsOk());
  EXPECT_LE(most, 1000u);
}

TEST_F(ProducerConcurrencyTest, BatchLargerThanTheBudgetPassesAlone) {
  ManifestLog log = LogOver(memory_);
  ProducerHost host(Over(memory_), log);
  Producer producer = *host.Open("a", {.pending_bytes_max = 10});
  for (uint64_t i = 0; i < 3; ++i) ASSERT_THAT(producer.Publish(Slices(i, 5000), {}), IsOk());
  EXPECT_THAT(producer.Flush(), IsOk());
  EXPECT_EQ(producer.committed_seq(), 3u);
}

// Covers E5.
TEST_F(ProducerConcurrencyTest, StoreThatIsDownForAWhileOnlyDelays) {
  FaultyStore store(memory_, {.fail_call = 4,
                              .calls = 12,
                              .filter = {.calls = kCallCreate, .key = KeyContains(stream_.keys().StreamPrefix())}});
  ManifestLog log = LogOver(store);
  ProducerHost host(Over(store), log);
  Producer producer = *host.Open("a", {});
  for (uint64_t i = 0; i < 10; ++i) ASSERT_THAT(producer.Publish(Slices(i), {}), IsOk());
  EXPECT_THAT(producer.Flush(), IsOk());
  EXPECT_EQ(producer.committed_seq(), 10u);
}

// So long that a call which nobody wakes hangs until the test is ended.
constexpr Duration kNever = std::chrono::hours(1);

// However small they are, a queue takes so many batches and no more.
TEST_F(ProducerConcurrencyTest, CommitWakesWhoWaitsForRoomInAFullQueue) {
  GatedStore gated(memory_);
  ManifestLog log = LogOver(gated);
  ProducerHost host(Over(gated), log);
  Producer producer = *host.Open("a", {.stall_after = kNever});
  gated.Close({.calls = kCallCreate, .key = KeyContains("/manifest/")});
  for (uint64_t i = 0; i < kPendingBatchesMax; ++i) ASSERT_THAT(producer.Publish(Slices(i, 1), {}), IsOk());
  // Uploads make room too, and are over.
  while (producer.stats().pending_bytes > 0) clock_.SleepUntil(After(clock_.Now(), std::chrono::milliseconds(1)));
  std::thread waits([&] { EXPECT_THAT(producer.Publish(Slices(kPendingBatchesMax, 1), {}), IsOk()); });
  gated.AwaitHeld();
  clock_.SleepUntil(After(clock_.Now(), std::chrono::milliseconds(20)));  // So that it waits by then, most likely.
  EXPECT_EQ(producer.stats().published, kPendingBatchesMax);
  gated.Open();
  waits.join();
  EXPECT_THAT(producer.Flush(), IsOk());
  EXPECT_EQ(producer.committed_seq(), kPendingBatchesMax + 1);
}

TEST_F(ProducerConcurrencyTest, FailedUploadWakesWhoWaitsForRoom) {
  FaultyStore denied(
      memory_,
      {.fail_call = 1, .code = ErrorCode::kDenied, .filter = {.calls = kCallCreate, .key = KeyContains("/data/")}});
  GatedStore gated(denied);
  ManifestLog log = LogOver(gated);
  ProducerHost host(Over(gated), log);
  Producer producer = *host.Open("a", {.pending_bytes_max = 300, .stall_after = kNever});
  gated.Close({.calls = kCallCreate, .key = KeyContains("/data/")});
  ASSERT_THAT(producer.Publish(Slices(1), {}), IsOk());
  gated.AwaitHeld();
  std::thread waits([&] { EXPECT_THAT(producer.Publish(Slices(2), {}), IsError(ErrorCode::kDenied)); });
  clock_.SleepUntil(After(clock_.Now(), std::chrono::milliseconds(20)));  // So that it waits by then, most likely.
  gated.Open();
  waits.join();
  EXPECT_THAT(producer.Flush(), IsOk());
}

TEST_F(ProducerConcurrencyTest, DeadlineOfAFlushIsKept) {
  GatedStore gated(memory_);
  ManifestLog log = LogOver(gated);
  ProducerHost host(Over(gated), log);
  Producer producer = *host.Open("a", {});
  gated.Close({.calls = kCallCreate, .key = KeyContains("/data/")});
  ASSERT_THAT(producer.Publish(Slices(1), {}), IsOk());
  EXPECT_THAT(producer.Flush(clock_.Now()), IsError(ErrorCode::kStalled, ::testing::HasSubstr("waiting for batch 1")));
  gated.Open();
  EXPECT_THAT(producer.Flush(), IsOk());
}

}  // namespace
}  // namespace batchweave
