#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "batchweave/consumer/consumer.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/corrupting_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/stream_builder.h"
#include "batchweave/testing/test_env.h"

namespace batchweave {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const TestBatch kBatch{.grid = {.dp = 2, .cp = 1}, .slice_bytes = {1000}};
constexpr MeshRank kRank{.dp_rank = 1, .dp_size = 2};

// One rank over a store that misbehaves, reading in the test's thread.
struct Reader {
  Reader(ObjectStore& store, const StreamBuilder& stream)
      : log(env.Over(store), stream.keys(), stream.stream_json_hash()) {}

  Result<void> Open(uint64_t step) {
    consumer = BW_TRY(Consumer::Open(log.env(), log, {.position = {step}, .rank = kRank, .prefetch_steps_max = 0}));
    return {};
  }

  // The step of the next batch, whose bytes must be right.
  Result<uint64_t> NextStep() {
    const std::optional<RankBatch> batch = BW_TRY(consumer->Next());
    const Slice& slice = batch->slices().at(0);
    EXPECT_TRUE(IsTestSlice(batch->entry().seq, slice.at, slice.bytes));
    return batch->step().value;
  }

  TestEnv env;
  ManifestLog log;
  std::optional<Consumer> consumer;
};

class ConsumerFaultsTest : public ::testing::Test {
 protected:
  void DeleteData(const Entry& entry) {
    const std::string key = stream.keys().Data(entry.producer, entry.incarnation, entry.seq, entry.parts[0].nonce);
    ASSERT_THAT(memory.Delete({{key}}), IsOk());
  }

  MemoryStore memory;
  StreamBuilder stream{memory};
};

class CorruptReadTest : public ConsumerFaultsTest, public ::testing::WithParamInterface<Corruption::Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, CorruptReadTest,
                         ::testing::Values(Corruption::Kind::kShort, Corruption::Kind::kEmpty,
                                           Corruption::Kind::kFlip));

// Covers F2, F3, I10.
TEST_P(CorruptReadTest, ASliceThatArrivesAlteredIsReadAgain) {
  stream.Append(kBatch);
  CorruptingStore store(memory,
                        {.kind = GetParam(), .position = 500, .reads = 2, .filter = {.key = KeyContains("/data/")}});
  Reader rank(store, stream);
  ASSERT_THAT(rank.Open(0), IsOk());
  EXPECT_THAT(rank.NextStep(), IsOkAndHolds(0u));
  EXPECT_EQ(rank.consumer->stats().retries, 2u);
}

// Covers F2, F3, I10, I12.
TEST_P(CorruptReadTest, ASliceThatIsAlteredAtRestIsCorruptAndTheRankGoesOnOnceItIsMended) {
  stream.Append(kBatch);
  CorruptingStore store(memory,
                        {.kind = GetParam(), .position = 500, .reads = 3, .filter = {.key = KeyContains("/data/")}});
  Reader rank(store, stream);
  ASSERT_THAT(rank.Open(0), IsOk());
  EXPECT_THAT(rank.NextStep(), IsError(ErrorCode::kCorrupt, AllOf(HasSubstr("step 0"), HasSubstr("key=run/"),
                                                                  HasSubstr("expected="), HasSubstr("found="))));
  EXPECT_EQ(rank.consumer->position(), Step{0});
  EXPECT_THAT(rank.NextStep(), IsOkAndHolds(0u));
}

// Covers F2, F3.
TEST_P(CorruptReadTest, AManifestThatArrivesAlteredIsReadAgain) {
  stream.Append(kBatch);
  CorruptingStore store(memory, {.kind = GetParam(),
                                 .position = 70,
                                 .reads = 1,
                                 .filter = {.calls = kCallGet, .key = KeyContains("/manifest/")}});
  Reader rank(store, stream);
  ASSERT_THAT(rank.Open(0), IsOk());
  EXPECT_THAT(rank.NextStep(), IsOkAndHolds(0u));
  stream.Append(kBatch);
  EXPECT_THAT(rank.NextStep(), IsOkAndHolds(1u));
}

// Covers F2, F3.
TEST_P(CorruptReadTest, AFooterThatArrivesAlteredIsReadAgain) {
  stream.Append({.grid = {.dp = 2, .cp = 1}, .slice_bytes = {10, 20}, .parts = {}, .lengths_in_footer = true});
  CorruptingStore store(memory,
                        {.kind = GetParam(), .position = 10, .reads = 1, .filter = {.key = KeyContains("/data/")}});
  Reader rank(store, stream);
  ASSERT_THAT(rank.Open(0), IsOk());
  EXPECT_THAT(rank.NextStep(), IsOkAndHolds(0u));
}

// Covers D7.
TEST_F(ConsumerFaultsTest, DataThatIsGoneBecauseItsStepWasTrimmedIsTrimmed) {
  for (int i = 0; i < 3; ++i) stream.Append(kBatch);
  Reader rank(memory, stream);
  ASSERT_THAT(rank.Open(0), IsOk());
  EXPECT_THAT(rank.NextStep(), IsOkAndHolds(0u));
  DeleteData(stream.newest().tail[1]);
  stream.Trim({2});
  EXPECT_THAT(rank.NextStep(), IsError(ErrorCode::kTrimmed, HasSubstr("begins at step 2")));
  EXPECT_EQ(rank.consumer->position(), Step{1});
}

// Covers D7.
TEST_F(ConsumerFaultsTest, DataThatIsGoneButWasReplacedIsReadFromItsNewObject) {
  stream.Append(kBatch);
  Reader rank(memory, stream);
  ASSERT_THAT(rank.Open(0), IsOk());
  const Entry old = stream.newest().tail[0];
  stream.Replace({0}, stream.UploadAgain(old, kBatch));
  DeleteData(old);
  EXPECT_THAT(rank.NextStep(), IsOkAndHolds(0u));
}

// Covers D7.
TEST_F(ConsumerFaultsTest, ATrimmedStepWhoseDataIsStillThereIsReadByWhoKnewIt) {
  for (int i = 0; i < 3; ++i) stream.Append(kBatch);
  Reader rank(memory, stream);
  ASSERT_THAT(rank.Open(0), IsOk());
  stream.Trim({2});
  EXPECT_THAT(rank.NextStep(), IsOkAndHolds(0u));
}

TEST_F(ConsumerFaultsTest, DataThatIsGoneThoughTheNewestManifestNamesItIsCorrupt) {
  stream.Append(kBatch);
  DeleteData(stream.newest().tail[0]);
  Reader rank(memory, stream);
  ASSERT_THAT(rank.Open(0), IsOk());
  EXPECT_THAT(rank.NextStep(), IsError(ErrorCode::kCorrupt, AllOf(HasSubstr("step=0"), HasSubstr("/data/"))));
}

// Covers I12.
TEST_F(ConsumerFaultsTest, AStoreThatStaysAwayIsReportedAndTheRankGoesOnWhenItIsBack) {
  stream.Append(kBatch);
  FaultyStore store(memory, {.fail_call = 3, .calls = 40, .filter = {.calls = kCallGet}});
  Reader rank(store, stream);
  ASSERT_THAT(rank.Open(0), IsOk());
  EXPECT_THAT(rank.NextStep(), IsOkAndHolds(0u));
  stream.Append(kBatch);
  int refused = 0;
  Result<uint64_t> step = rank.NextStep();
  for (; !step.ok() && refused < 100; ++refused) {
    EXPECT_THAT(step, IsError(ErrorCode::kUnavailable));
    step = rank.NextStep();
  }
  EXPECT_THAT(step, IsOkAndHolds(1u));
  EXPECT_GE(refused, 3);
}

// Covers G8.
TEST_F(ConsumerFaultsTest, AStallWhileReadsFailSaysSo) {
  stream.Append(kBatch);
  FaultyStore store(memory, {.fail_call = 1, .calls = Fault::kAllCalls, .filter = {.key = KeyContains("/data/")}});
  Reader rank(store, stream);
  ASSERT_THAT(rank.Open(0), IsOk());
  EXPECT_THAT(rank.consumer->Next(After(rank.env.clock.Now(), std::chrono::milliseconds(200))),
              IsError(ErrorCode::kStalled, AllOf(HasSubstr("waiting for the bytes of step 0 by tok-03"),
                                                 HasSubstr("tries failed; the last: unavailable"))));
}

TEST_F(ConsumerFaultsTest, WhatThePersonMustActOnIsSaidAtOnce) {
  stream.Append(kBatch);
  FaultyStore store(memory, {.fail_call = 1, .code = ErrorCode::kDenied, .filter = {.key = KeyContains("/data/")}});
  Reader rank(store, stream);
  ASSERT_THAT(rank.Open(0), IsOk());
  EXPECT_THAT(rank.NextStep(), IsError(ErrorCode::kDenied));
  EXPECT_THAT(rank.NextStep(), IsOkAndHolds(0u));
}

// Covers I10, I11, I12.
TEST(ConsumerSweepTest, WhicheverCallFailsTheRankGetsTheRightBytesOrATypedErrorAndGoesOn) {
  ForEachFailure([](const Fault& fault) {
    MemoryStore memory;
    StreamBuilder stream(memory);
    for (int i = 0; i < 4; ++i) stream.Append(kBatch);
    stream.Archive(2);
    stream.Append({.grid = {.dp = 2, .cp = 1}, .slice_bytes = {10, 20}, .parts = {}, .lengths_in_footer = true});
    FaultyStore store(memory, fault);
    Reader rank(store, stream);
    for (int tries = 0; !rank.consumer; ++tries) {
      EXPECT_LT(tries, 3);
      if (tries == 3) return false;
      const Result<void> opened = rank.Open(0);
      EXPECT_TRUE(opened.ok() || opened.error().code == ErrorCode::kUnavailable);
    }
    for (uint64_t step = 0; step < 9; ++step) {
      EXPECT_THAT(rank.NextStep(), IsOkAndHolds(step));
      if (step >= 4) stream.Append(kBatch);
    }
    return store.fired();
  });
}

}  // namespace
}  // namespace batchweave
