#include "batchweave/consumer/consumer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "batchweave/store/memory_store.h"
#include "batchweave/store/metered_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/stream_builder.h"
#include "batchweave/testing/test_env.h"

namespace batchweave {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

// A stream in memory, read by ranks in the test's own thread: no prefetch, and a clock that jumps over every wait.
class ConsumerTest : public ::testing::TestWithParam<bool> {
 protected:
  explicit ConsumerTest(MemoryStoreOptions options = {})
      : memory(options),
        metered(memory),
        stream(memory),
        env(),
        log(env.Over(metered), stream.keys(), stream.stream_json_hash()) {}

  static ConsumerOptions At(uint64_t step, MeshRank rank = {}) {
    return {.position = {step}, .rank = rank, .prefetch_steps_max = 0};
  }
  Result<Consumer> Open(const ConsumerOptions& options) { return Consumer::Open(env.Over(metered), log, options); }
  StoreUsage UsageOf(const std::function<void()>& action) {
    const StoreUsage before = metered.usage();
    action();
    return metered.usage() - before;
  }

  MemoryStore memory;
  MeteredStore metered;
  StreamBuilder stream;
  TestEnv env;
  ManifestLog log;
};

// The step of the next batch, whose slices must be those of the batch with that seq, as many as `slices`.
Result<uint64_t> NextStep(Consumer& rank, size_t slices = 1) {
  const std::optional<RankBatch> batch = BW_TRY(rank.Next());
  if (!batch) return Error{ErrorCode::kSealed, "the end"};
  EXPECT_EQ(batch->slices().size(), slices);
  EXPECT_EQ(batch->entry().seq, batch->step().value + 1);
  for (const Slice& slice : batch->slices()) EXPECT_TRUE(IsTestSlice(batch->entry().seq, slice.at, slice.bytes));
  return batch->step().value;
}

class ConsumerOrderTest : public ConsumerTest {
 protected:
  ConsumerOrderTest() : ConsumerTest({.ordered_list = GetParam()}) {}
};
INSTANTIATE_TEST_SUITE_P(OrderedList, ConsumerOrderTest, ::testing::Bool());

// Covers E3, I10.
TEST_P(ConsumerOrderTest, ReadsEveryStepInOrderWhileTheStreamGrows) {
  const TestBatch batch{.grid = {.dp = 4, .cp = 2}, .slice_bytes = {1000}};
  stream.Append(batch);
  Consumer rank = Open(At(0, {.dp_rank = 1, .dp_size = 2, .cp_rank = 1, .cp_size = 2})).value();
  for (uint64_t step = 0; step < 30; ++step) {
    EXPECT_THAT(NextStep(rank, 2), IsOkAndHolds(step));
    stream.Append(batch);
    if (step % 5 == 0) stream.CommitNothing();
  }
  EXPECT_EQ(rank.position(), Step{30});
  EXPECT_EQ(rank.stats().delivered_bytes, 30 * 2000u);
}

// Covers G9.
TEST_P(ConsumerOrderTest, OpeningCostsTheSameAtAnyStep) {
  std::vector<Entry> entries;
  for (int i = 0; i < 300; ++i) entries.push_back(stream.Upload({}));
  stream.Commit(std::move(entries));
  std::set<uint64_t> requests;
  for (const uint64_t step : {0, 150, 299}) {
    const StoreUsage usage = UsageOf([&] {
      ManifestLog fresh(env.Over(metered), stream.keys(), stream.stream_json_hash());
      Consumer rank = Consumer::Open(fresh.env(), fresh, At(step)).value();
      EXPECT_THAT(NextStep(rank), IsOkAndHolds(step));
    });
    requests.insert(usage.requests());
  }
  EXPECT_EQ(requests.size(), 1u);
  EXPECT_LE(*requests.begin(), GetParam() ? 6u : 8u);  // Without an order the first version takes five probes.
}

// Covers G9.
TEST_F(ConsumerTest, ArchivedStepsAreReadWithTwoMoreRequests) {
  for (int object = 0; object < 3; ++object) {
    std::vector<Entry> entries;
    for (int i = 0; i < 40; ++i) entries.push_back(stream.Upload({}));
    stream.Commit(std::move(entries));
    stream.Archive(40);
  }
  stream.FoldArchives();
  stream.Append({});
  const StoreUsage usage = UsageOf([&] {
    Consumer rank = Open(At(50)).value();
    EXPECT_THAT(NextStep(rank), IsOkAndHolds(50u));
  });
  EXPECT_LE(usage.requests(), 6u);
  Consumer rank = Open(At(0)).value();
  for (uint64_t step = 0; step < 121; ++step) EXPECT_THAT(NextStep(rank), IsOkAndHolds(step));
}

TEST_F(ConsumerTest, OpeningAndReadingWriteNothing) {
  stream.Append({});
  const StoreUsage usage = UsageOf([&] {
    Consumer rank = Open(At(0)).value();
    EXPECT_THAT(NextStep(rank), IsOk());
  });
  EXPECT_EQ(usage.creates + usage.overwrites + usage.deletes, 0u);
}

TEST_F(ConsumerTest, AStepIsOneGetHoweverManySlicesItHas) {
  for (const uint32_t dp : {1, 8, 64, 4096}) {
    stream.Append({.grid = {.dp = dp, .cp = 1}, .slice_bytes = {100}});
    Consumer rank = Open(At(stream.newest().next_step.value - 1)).value();
    EXPECT_THAT(NextStep(rank, dp), IsOk());
    EXPECT_EQ(rank.stats().payload_gets, 1u);
  }
}

// Covers I11.
TEST_F(ConsumerTest, FollowingCostsOneHeadAVersion) {
  stream.Append({});
  Consumer rank = Open(At(0)).value();
  EXPECT_THAT(NextStep(rank), IsOk());
  for (uint64_t step = 1; step < 8; ++step) {
    stream.Append({});
    const StoreUsage usage = UsageOf([&] { EXPECT_THAT(NextStep(rank), IsOkAndHolds(step)); });
    EXPECT_EQ(usage.requests(), 2u);
    EXPECT_LE(usage.bytes_read, kHeadReadBytes + 1000);
  }
}

TEST_F(ConsumerTest, AReaderThatWasLeftBehindJumpsToTheNewestVersion) {
  stream.Append({});
  Consumer rank = Open(At(0)).value();
  for (int i = 1; i < 200; ++i) stream.Append({});
  const StoreUsage usage = UsageOf([&] {
    for (uint64_t step = 0; step < 200; ++step) EXPECT_THAT(NextStep(rank), IsOkAndHolds(step));
  });
  EXPECT_LE(usage.requests(), 200u + 20u);
}

TEST_F(ConsumerTest, AReaderWhoseSuccessorWasRetiredGoesOnFromTheNewestVersion) {
  stream.Append({});
  Consumer rank = Open(At(0)).value();
  EXPECT_THAT(NextStep(rank), IsOk());
  const Version known = stream.newest().version;
  for (int i = 0; i < 20; ++i) stream.Append({});
  for (uint64_t i = 0; i < 10; ++i) stream.Retire({known.value + i});
  for (uint64_t step = 1; step < 21; ++step) EXPECT_THAT(NextStep(rank), IsOkAndHolds(step));
}

TEST_F(ConsumerTest, BatchesInPartsAndBatchesWithTheirLengthsInFootersAreRead) {
  const std::vector<GridRange> parts = {{.dp_begin = 0, .dp_count = 3, .cp_begin = 0, .cp_count = 2},
                                        {.dp_begin = 3, .dp_count = 1, .cp_begin = 0, .cp_count = 2}};
  const std::vector<uint64_t> sizes = {1, 200, 0, 64, 999, 63, 8, 1000};
  stream.Append({.grid = {.dp = 4, .cp = 2}, .slice_bytes = sizes, .parts = parts});
  stream.Append({.grid = {.dp = 4, .cp = 2}, .slice_bytes = sizes, .parts = {}, .lengths_in_footer = true});
  stream.Append({.grid = {.dp = 4, .cp = 2}, .slice_bytes = sizes, .parts = parts, .lengths_in_footer = true});
  Consumer whole = Open(At(0)).value();
  Consumer half = Open(At(0, {.dp_rank = 1, .dp_size = 2, .cp_rank = 0, .cp_size = 1})).value();
  for (uint64_t step = 0; step < 3; ++step) {
    EXPECT_THAT(NextStep(whole, 8), IsOkAndHolds(step));
    EXPECT_THAT(NextStep(half, 4), IsOkAndHolds(step));
  }
}

TEST_F(ConsumerTest, SlicesOfNoBytesCostNoGet) {
  stream.Append({.grid = {.dp = 2, .cp = 1}, .slice_bytes = {0, 100}});
  Consumer rank = Open(At(0, {.dp_rank = 0, .dp_size = 2})).value();
  EXPECT_THAT(NextStep(rank), IsOkAndHolds(0u));
  EXPECT_EQ(rank.stats().payload_gets, 0u);
}

TEST_F(ConsumerTest, ARankWithoutSlicesOfAnUnevenGridGetsTheStepAllTheSame) {
  stream.Append({.grid = {.dp = 2, .cp = 1}});
  ConsumerOptions options = At(0, {.dp_rank = 0, .dp_size = 3});
  options.allow_uneven = true;
  Consumer rank = Open(options).value();
  EXPECT_THAT(NextStep(rank, 0), IsOkAndHolds(0u));
}

TEST_F(ConsumerTest, SlicesBeginAtMultiplesOf64Bytes) {
  stream.Append({.grid = {.dp = 5, .cp = 1}, .slice_bytes = {77}});
  Consumer rank = Open(At(0)).value();
  const auto batch = rank.Next().value();
  for (const Slice& slice : batch->slices()) EXPECT_EQ(reinterpret_cast<uintptr_t>(slice.bytes.data()) % 64, 0u);
}

TEST_F(ConsumerTest, ABatchMayOutliveItsConsumer) {
  stream.Append({});
  std::optional<RankBatch> batch;
  {
    Consumer rank = Open(At(0)).value();
    batch = rank.Next().value();
  }
  EXPECT_TRUE(IsTestSlice(1, {}, batch->slices()[0].bytes));
}

TEST_F(ConsumerTest, TheChainHashIsThatOfTheVersionByWhichTheStepWasKnown) {
  stream.Append({});
  const Hash128 first = stream.newest_hash();
  Consumer rank = Open(At(0)).value();
  stream.Append({});
  EXPECT_THAT(NextStep(rank), IsOk());
  EXPECT_EQ(rank.chain_hash(), first);
  EXPECT_THAT(NextStep(rank), IsOk());
  EXPECT_EQ(rank.chain_hash(), stream.newest_hash());
}

// Covers G1, I11.
RC_GTEST_FIXTURE_PROP(ConsumerTest, EveryRankOfAMeshEndsASealedStreamAtTheSameStepAndTogetherTheyReadAllOfIt, ()) {
  const auto dp = *rc::gen::inRange<uint32_t>(1, 5);
  const auto cp = *rc::gen::inRange<uint32_t>(1, 3);
  const auto steps = *rc::gen::inRange<uint64_t>(0, 6);
  uint64_t slices = 0;
  for (uint64_t step = 0; step < steps; ++step) {
    const Grid grid{.dp = dp * *rc::gen::inRange<uint32_t>(1, 4), .cp = cp * *rc::gen::inRange<uint32_t>(1, 3)};
    slices += grid.slices();
    stream.Append({.grid = grid});
  }
  stream.Seal();
  uint64_t read = 0;
  for (uint32_t i = 0; i < dp * cp; ++i) {
    Consumer rank = Open(At(0, {.dp_rank = i % dp, .dp_size = dp, .cp_rank = i / dp, .cp_size = cp})).value();
    while (const std::optional<RankBatch> batch = rank.Next().value()) {
      read += batch->slices().size();
      for (const Slice& slice : batch->slices()) RC_ASSERT(IsTestSlice(batch->entry().seq, slice.at, slice.bytes));
    }
    RC_ASSERT(rank.position() == Step{steps});
    RC_ASSERT(!rank.Next().value().has_value());
  }
  RC_ASSERT(read == slices);
}

// Covers G2.
TEST_F(ConsumerTest, ResumingAtAnyPositionGivesExactlyTheRest) {
  for (int i = 0; i < 10; ++i) stream.Append({});
  stream.Seal();
  for (uint64_t stop = 0; stop <= 10; ++stop) {
    Consumer before = Open(At(0)).value();
    for (uint64_t step = 0; step < stop; ++step) EXPECT_THAT(NextStep(before), IsOkAndHolds(step));
    Consumer after = Open(At(before.position().value)).value();
    for (uint64_t step = stop; step < 10; ++step) EXPECT_THAT(NextStep(after), IsOkAndHolds(step));
    EXPECT_THAT(NextStep(after), IsError(ErrorCode::kSealed));
  }
}

// Covers G3.
TEST_F(ConsumerTest, AMeshThatDoesNotFitAStepIsRefusedThereAndAnotherGoesOn) {
  stream.Append({.grid = {.dp = 6, .cp = 1}});
  stream.Append({.grid = {.dp = 4, .cp = 1}});
  Consumer three = Open(At(0, {.dp_rank = 2, .dp_size = 3})).value();
  EXPECT_THAT(NextStep(three, 2), IsOkAndHolds(0u));
  EXPECT_THAT(NextStep(three), IsError(ErrorCode::kMeshMismatch, HasSubstr("step 1")));
  EXPECT_THAT(NextStep(three), IsError(ErrorCode::kMeshMismatch));
  EXPECT_EQ(three.position(), Step{1});
  Consumer two = Open(At(three.position().value, {.dp_rank = 1, .dp_size = 2})).value();
  EXPECT_THAT(NextStep(two, 2), IsOkAndHolds(1u));
}

// Covers G8, I12.
TEST_F(ConsumerTest, AStallSaysWhatIsAwaitedAndWhatIsNewest) {
  stream.Append({.committed_at_ns = env.clock.WallNow().count()});
  Consumer rank = Open(At(0)).value();
  EXPECT_THAT(NextStep(rank), IsOk());
  env.clock.Advance(seconds(40));
  EXPECT_THAT(NextStep(rank),
              IsError(ErrorCode::kStalled, "waiting for step 1; newest is 0, committed 340 s ago by tok-03"));
  EXPECT_THAT(rank.Next(After(env.clock.Now(), seconds(1))), IsError(ErrorCode::kStalled, HasSubstr("341 s ago")));
  EXPECT_GE(rank.stats().waited_for_commit, seconds(301));
  stream.Append({});
  EXPECT_THAT(NextStep(rank), IsOkAndHolds(1u));
}

// Covers G8.
TEST_F(ConsumerTest, AnEmptyStreamStallsAndThenGivesItsFirstStep) {
  Consumer rank = Open(At(0)).value();
  EXPECT_THAT(NextStep(rank), IsError(ErrorCode::kStalled, "waiting for step 0; nothing is committed yet"));
  stream.Append({});
  EXPECT_THAT(NextStep(rank), IsOkAndHolds(0u));
}

TEST_F(ConsumerTest, APositionBeyondTheNewestStepIsAwaited) {
  stream.Append({});
  Consumer rank = Open(At(2)).value();
  EXPECT_THAT(NextStep(rank), IsError(ErrorCode::kStalled, HasSubstr("waiting for step 2; newest is 0")));
  stream.Append({});
  stream.Append({});
  EXPECT_THAT(NextStep(rank), IsOkAndHolds(2u));
}

TEST_F(ConsumerTest, OpeningBelowTheFirstStepIsTrimmed) {
  stream.Append({});
  stream.Append({});
  stream.Trim({1});
  EXPECT_THAT(Open(At(0)), IsError(ErrorCode::kTrimmed, HasSubstr("begins at step 1")));
  EXPECT_THAT(Open(At(1)), IsOk());
}

TEST_F(ConsumerTest, ADeletedStreamIsNotFound) {
  stream.Append({});
  Consumer rank = Open(At(1)).value();
  stream.Delete();
  EXPECT_THAT(NextStep(rank), IsError(ErrorCode::kNotFound));
  EXPECT_THAT(Open(At(0)), IsError(ErrorCode::kNotFound));
}

// To a reader that slept through it, it is as if no successor were committed yet; found by the simulator.
// Covers I12.
TEST_F(ConsumerTest, AReaderThatSleptThroughADeletionDoesNotWaitForever) {
  stream.Append({});
  Consumer rank = Open(At(1)).value();
  stream.DeleteAll();
  EXPECT_THAT(NextStep(rank), IsError(ErrorCode::kNotFound, HasSubstr("the stream was deleted")));
}

// Its producer slept through the deletion, and goes on: what was uploaded before is gone, though versions name it.
TEST_F(ConsumerTest, AStepWhoseDataWentWithTheStreamIsNotCorrupt) {
  stream.Append({});
  stream.Append({});
  Consumer knows_the_step = Open(At(0)).value();
  ASSERT_THAT(NextStep(knows_the_step), IsOkAndHolds(0u));
  Consumer awaits_it = Open(At(2)).value();
  const Entry uploaded = stream.Upload({});
  stream.DeleteAll();
  stream.Commit({uploaded});
  const auto is_gone = IsError(ErrorCode::kNotFound, HasSubstr("the stream was deleted"));
  EXPECT_THAT(NextStep(knows_the_step), is_gone);
  EXPECT_THAT(NextStep(awaits_it), is_gone);
}

TEST_F(ConsumerTest, HistoryThatWentWithTheStreamIsNotCorrupt) {
  for (int step = 0; step < 4; ++step) stream.Append({});
  stream.Archive(2);
  Consumer rank = Open(At(0)).value();
  stream.DeleteAll();
  stream.CommitNothing();
  EXPECT_THAT(NextStep(rank), IsError(ErrorCode::kNotFound, HasSubstr("the stream was deleted")));
  EXPECT_THAT(Open(At(0)).value().Next(), IsError(ErrorCode::kNotFound, HasSubstr("the stream was deleted")));
}

// The sleeper knew less of it, and makes another history.
TEST_F(ConsumerTest, AnotherHistoryOfADeletedStreamIsNotCorrupt) {
  stream.Append({});
  StreamBuilder sleeper = stream;
  stream.Append({});
  stream.CommitNothing();
  Consumer rank = Open(At(2)).value();
  const Version known = stream.newest().version;
  stream.DeleteAll();
  while (sleeper.newest().version <= known) sleeper.CommitNothing();
  EXPECT_THAT(NextStep(rank), IsError(ErrorCode::kNotFound, HasSubstr("the stream was deleted")));
}

// The sleeper's versions go on, and no step ever follows.
TEST_F(ConsumerTest, AWaitForAProducerOfADeletedStreamIsNotStalled) {
  stream.Append({});
  Consumer rank = Open(At(1)).value();
  stream.DeleteAll();
  stream.CommitNothing();
  EXPECT_THAT(NextStep(rank), IsError(ErrorCode::kNotFound, HasSubstr("the stream was deleted")));
}

// Somebody removed it by hand, stream.json too.
TEST_F(ConsumerTest, AStreamThatIsNotThereAtAllIsNotFound) {
  stream.Append({});
  Consumer rank = Open(At(1)).value();
  stream.DeleteAll();
  ASSERT_THAT(memory.Delete({{StreamJsonKey(stream.keys().name)}}), IsOk());
  stream.CommitNothing();
  EXPECT_THAT(NextStep(rank), IsError(ErrorCode::kNotFound, HasSubstr("the stream was deleted")));
}

// Waits with a near deadline end in vain all the time, and nothing is wrong.
TEST_F(ConsumerTest, ShortWaitsDoNotLookForADeletion) {
  stream.Append({});
  Consumer rank = Open(At(1)).value();
  const auto wait_in_vain = [&](Duration wait) {
    EXPECT_THAT(rank.Next(After(env.clock.Now(), wait)), IsError(ErrorCode::kStalled));
  };
  const auto looks = [&](Duration wait) { return UsageOf([&] { wait_in_vain(wait); }).reads; };
  uint64_t early = 0;
  for (int wait = 0; wait < 9; ++wait) early += looks(seconds(1));
  EXPECT_EQ(early, 0u);
  EXPECT_EQ(looks(seconds(2)), 1u);
  EXPECT_EQ(looks(seconds(2)), 0u);
}

TEST_F(ConsumerTest, WrongOptionsAreRefused) {
  stream.Append({.grid = {.dp = 4, .cp = 1}});
  EXPECT_THAT(Open(At(0, {.dp_rank = 4, .dp_size = 4})), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(Open(At(0, {.dp_rank = 0, .dp_size = 3})), IsError(ErrorCode::kMeshMismatch));
  ConsumerOptions no_threads{.position = {0}, .rank = {}, .prefetch_threads = 0};
  EXPECT_THAT(Open(no_threads), IsError(ErrorCode::kInvalidArgument));
}

TEST_F(ConsumerTest, AClosedConsumerAnswersSo) {
  stream.Append({});
  Consumer rank = Open(At(0)).value();
  rank.Close();
  rank.Close();
  EXPECT_THAT(NextStep(rank), IsError(ErrorCode::kClosed));
}

}  // namespace
}  // namespace batchweave
