#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "batchweave/consumer/consumer.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/gated_store.h"
#include "batchweave/testing/manual_clock.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/seeded_random.h"
#include "batchweave/testing/stream_builder.h"

namespace batchweave {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const TestBatch kBatch{.grid = {.dp = 2, .cp = 1}, .slice_bytes = {10'000}};

// A stream in memory, read ahead by threads.
class PrefetchTest : public ::testing::Test {
 protected:
  Env Over(ObjectStore& store, Clock& clock) {
    return {.store = store, .clock = clock, .random = random, .threads = threads};
  }
  static ConsumerOptions At(uint64_t step) {
    return {.position = {step},
            .rank = {.dp_rank = 1, .dp_size = 2},
            .poll_interval_min = milliseconds(1),
            .poll_interval_max = milliseconds(20)};
  }

  MemoryStore memory;
  StreamBuilder stream{memory};
  SystemClock system_clock;
  ManualClock manual_clock{ManualClock::Mode::kManual};
  SeededRandom random{1};
  SystemThreads threads;
};

Result<uint64_t> NextStep(Consumer& rank) {
  const std::optional<RankBatch> batch = BW_TRY(rank.Next());
  if (!batch) return Error{ErrorCode::kSealed, "the end"};
  const Slice& slice = batch->slices().at(0);
  EXPECT_TRUE(IsTestSlice(batch->entry().seq, slice.at, slice.bytes));
  EXPECT_EQ(batch->entry().seq, batch->step().value + 1);
  return batch->step().value;
}

// Covers G1, I10, I11.
TEST_F(PrefetchTest, ManyRanksFollowALiveStreamToItsEnd) {
  constexpr uint64_t kSteps = 150;
  ManifestLog log(Over(memory, system_clock), stream.keys(), stream.stream_json_hash());
  std::vector<std::thread> ranks;
  for (uint32_t i = 0; i < 4; ++i) {
    ranks.emplace_back([&, i] {
      ConsumerOptions options = At(0);
      options.rank.dp_rank = i % 2;
      options.prefetch_threads = 1 + i;
      Consumer rank = Consumer::Open(log.env(), log, options).value();
      for (uint64_t step = 0; step < kSteps; ++step) EXPECT_THAT(NextStep(rank), IsOkAndHolds(step));
      EXPECT_THAT(NextStep(rank), IsError(ErrorCode::kSealed));
      EXPECT_THAT(NextStep(rank), IsError(ErrorCode::kSealed));
      EXPECT_EQ(rank.stats().steps, kSteps);
    });
  }
  for (uint64_t step = 0; step < kSteps; ++step) stream.Append(kBatch);
  stream.Seal();
  for (std::thread& rank : ranks) rank.join();
}

// Covers G2.
TEST_F(PrefetchTest, StoppingWithPrefetchFullAndResumingIsExact) {
  for (int i = 0; i < 20; ++i) stream.Append(kBatch);
  ManifestLog log(Over(memory, system_clock), stream.keys(), stream.stream_json_hash());
  uint64_t next = 0;
  for (const uint64_t steps : {0, 1, 3, 7, 9}) {
    Consumer rank = Consumer::Open(log.env(), log, At(next)).value();
    for (uint64_t i = 0; i < steps; ++i, ++next) EXPECT_THAT(NextStep(rank), IsOkAndHolds(next));
    while (steps > 0 && next < 16 && rank.stats().buffered_bytes < 40'000) std::this_thread::yield();
    EXPECT_EQ(rank.position(), Step{next});
  }
  EXPECT_EQ(next, 20u);
}

// Covers G7.
TEST_F(PrefetchTest, ReadsNoFurtherAheadThanItsBudgetOfBytes) {
  for (int i = 0; i < 50; ++i) stream.Append(kBatch);
  ManifestLog log(Over(memory, system_clock), stream.keys(), stream.stream_json_hash());
  ConsumerOptions options = At(0);
  options.prefetch_steps_max = 32;
  options.prefetch_threads = 3;
  options.prefetch_bytes_max = 45'000;
  Consumer rank = Consumer::Open(log.env(), log, options).value();
  for (uint64_t step = 0; step < 50; ++step) {
    EXPECT_THAT(NextStep(rank), IsOkAndHolds(step));
    EXPECT_LE(rank.stats().buffered_bytes, 45'000u);
  }
}

TEST_F(PrefetchTest, CloseWakesANextThatWaitsForACommit) {
  stream.Append(kBatch);
  ManifestLog log(Over(memory, manual_clock), stream.keys(), stream.stream_json_hash());
  Consumer rank = Consumer::Open(log.env(), log, At(0)).value();
  EXPECT_THAT(NextStep(rank), IsOkAndHolds(0u));
  std::thread waiter([&] { EXPECT_THAT(rank.Next(), IsError(ErrorCode::kClosed)); });
  manual_clock.AwaitSleepers(3);  // The waiter and two prefetch threads.
  rank.Close();
  waiter.join();
  EXPECT_THAT(rank.Next(), IsError(ErrorCode::kClosed));
}

TEST_F(PrefetchTest, CloseWakesANextThatReadsInItsOwnThread) {
  ManifestLog log(Over(memory, manual_clock), stream.keys(), stream.stream_json_hash());
  ConsumerOptions options = At(0);
  options.prefetch_steps_max = 0;
  Consumer rank = Consumer::Open(log.env(), log, options).value();
  std::thread waiter([&] { EXPECT_THAT(rank.Next(), IsError(ErrorCode::kClosed)); });
  manual_clock.AwaitSleepers(1);
  rank.Close();
  waiter.join();
}

TEST_F(PrefetchTest, CloseWakesANextWhoseFetchHangsInTheStore) {
  stream.Append(kBatch);
  GatedStore gated(memory);
  ManifestLog log(Over(gated, system_clock), stream.keys(), stream.stream_json_hash());
  Consumer rank = Consumer::Open(log.env(), log, At(0)).value();
  gated.Close({.key = KeyContains("/data/")});
  std::thread waiter([&] { EXPECT_THAT(rank.Next(), IsError(ErrorCode::kClosed)); });
  gated.AwaitHeld();
  std::thread closer([&] { rank.Close(); });
  waiter.join();  // Before the store answers.
  gated.Open();
  closer.join();
}

// Covers G8, I12.
TEST_F(PrefetchTest, AFetchThatHangsIsReportedAsAStallOfTheBytes) {
  stream.Append(kBatch);
  GatedStore gated(memory);
  ManifestLog log(Over(gated, manual_clock), stream.keys(), stream.stream_json_hash());
  Consumer rank = Consumer::Open(log.env(), log, At(0)).value();
  gated.Close({.key = KeyContains("/data/")});
  std::thread waiter([&] {
    EXPECT_THAT(rank.Next(),
                IsError(ErrorCode::kStalled, HasSubstr("waiting for the bytes of step 0 by tok-03 for 300 s")));
  });
  gated.AwaitHeld();
  manual_clock.AwaitSleepers(2);  // The waiter, and the thread that looks for the next step.
  manual_clock.Advance(minutes(5));
  waiter.join();
  gated.Open();
  EXPECT_THAT(NextStep(rank), IsOkAndHolds(0u));
}

// Covers G8.
TEST_F(PrefetchTest, AStallOfTheProducersIsReportedWithTheNewestStep) {
  stream.Append({.grid = kBatch.grid, .slice_bytes = {100}, .committed_at_ns = manual_clock.WallNow().count()});
  ManifestLog log(Over(memory, manual_clock), stream.keys(), stream.stream_json_hash());
  Consumer rank = Consumer::Open(log.env(), log, At(0)).value();
  EXPECT_THAT(NextStep(rank), IsOkAndHolds(0u));
  std::thread waiter([&] {
    EXPECT_THAT(rank.Next(), IsError(ErrorCode::kStalled, AllOf(HasSubstr("waiting for step 1; newest is 0"),
                                                                HasSubstr("300 s ago by tok-03"))));
  });
  manual_clock.AwaitSleepers(3);
  manual_clock.Advance(minutes(5));
  waiter.join();
}

// Covers I10, I12.
TEST_F(PrefetchTest, WhicheverCallFailsUnderThreadsTheRankGoesOn) {
  for (int i = 0; i < 10; ++i) stream.Append(kBatch);
  stream.Seal();
  for (size_t call = 1; call <= 14; ++call) {
    SCOPED_TRACE(call);
    FaultyStore store(memory, {.fail_call = call, .calls = 3});
    ManifestLog log(Over(store, system_clock), stream.keys(), stream.stream_json_hash());
    Result<Consumer> rank = Consumer::Open(log.env(), log, At(0));
    for (int tries = 0; !rank.ok() && tries < 5; ++tries) rank = Consumer::Open(log.env(), log, At(0));
    ASSERT_THAT(rank, IsOk());
    for (uint64_t step = 0; step < 10; ++step) EXPECT_THAT(NextStep(*rank), IsOkAndHolds(step));
  }
}

// Covers G3.
TEST_F(PrefetchTest, AnErrorIsDeliveredAtItsStepAndNotBefore) {
  stream.Append(kBatch);
  stream.Append(kBatch);
  stream.Append({.grid = {.dp = 3, .cp = 1}});
  stream.Append(kBatch);
  ManifestLog log(Over(memory, system_clock), stream.keys(), stream.stream_json_hash());
  Consumer rank = Consumer::Open(log.env(), log, At(0)).value();
  EXPECT_THAT(NextStep(rank), IsOkAndHolds(0u));
  EXPECT_THAT(NextStep(rank), IsOkAndHolds(1u));
  EXPECT_THAT(NextStep(rank), IsError(ErrorCode::kMeshMismatch, HasSubstr("step 2")));
  EXPECT_THAT(NextStep(rank), IsError(ErrorCode::kMeshMismatch, HasSubstr("step 2")));
  EXPECT_EQ(rank.position(), Step{2});
}

TEST_F(PrefetchTest, StatsAndPositionMayBeReadWhileAnotherThreadReads) {
  for (int i = 0; i < 60; ++i) stream.Append(kBatch);
  ManifestLog log(Over(memory, system_clock), stream.keys(), stream.stream_json_hash());
  Consumer rank = Consumer::Open(log.env(), log, At(0)).value();
  std::atomic<bool> done = false;
  std::thread watcher([&] {
    while (!done) EXPECT_LE(rank.stats().steps, 60u);
  });
  for (uint64_t step = 0; step < 60; ++step) EXPECT_THAT(NextStep(rank), IsOkAndHolds(step));
  done = true;
  watcher.join();
  EXPECT_THAT(rank.chain_hash(), Not(Hash128{}));
}

}  // namespace
}  // namespace batchweave
