// Opening, publishing, uploading and committing, one call after the other in one thread: what the threads of a process do,
// with every request failing in its turn.
#include <gtest/gtest.h>

#include "batchweave/log/change.h"
#include "batchweave/producer/open_producer.h"
#include "batchweave/producer/uploader.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/producer_process.h"
#include "batchweave/testing/stream_builder.h"
#include "batchweave/testing/test_env.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

class ProducerCoreTest : public ::testing::Test {
 protected:
  ManifestLog Truth() { return {env_.Over(memory_), stream_.keys(), stream_.stream_json_hash()}; }
  Manifest Newest() { return Truth().ReadNewest()->manifest; }
  std::vector<std::string> Cursors() {
    std::vector<std::string> cursors;
    for (const Entry& entry : Newest().tail) cursors.emplace_back(AsText(entry.cursor));
    return cursors;
  }

  MemoryStore memory_;
  StreamBuilder stream_{memory_};
  TestEnv env_;
};

TEST_F(ProducerCoreTest, BatchesAreCommittedInTheOrderOfPublishing) {
  ProducerProcess process(env_, memory_, stream_);
  const ProducerRef producer = *process.Open("a");
  for (const uint64_t number : {1, 2, 3}) ASSERT_THAT(process.Publish(producer, number), IsOkAndHolds(number));
  for (int i = 0; i < 3; ++i) process.Upload(producer);
  process.Commit();
  EXPECT_THAT(process.pipeline().AwaitCommitted(*producer, kForever), IsOk());
  EXPECT_EQ(Cursors(), (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(Newest().version, Version{3});  // The builder's opening, this one's, and one commit for all three.
}

// Covers D2, I3, I5.
TEST_F(ProducerCoreTest, UploadsThatFinishOutOfOrderAreCommittedInOrder) {
  ProducerProcess process(env_, memory_, stream_);
  const ProducerRef producer = *process.Open("a");
  for (const uint64_t number : {1, 2, 3}) ASSERT_THAT(process.Publish(producer, number), IsOk());
  const std::optional<UploadJob> first = process.pipeline().TakeUpload();
  process.Upload(producer);
  process.Upload(producer);
  EXPECT_TRUE(process.pipeline().CollectRuns().runs.empty());  // 2 and 3 wait for 1.
  ManifestLog log = Truth();
  process.pipeline().FinishUpload(*first, UploadOne(env_.Over(memory_), log.keys(), *first));
  process.Commit();
  EXPECT_EQ(Cursors(), (std::vector<std::string>{"1", "2", "3"}));
}

// Covers I6, B2, B5.
TEST_F(ProducerCoreTest, OlderHolderOfANameIsFencedAndItsBatchesNeverAppear) {
  ProducerProcess old_process(env_, memory_, stream_);
  ProducerProcess new_process(env_, memory_, stream_);
  const ProducerRef zombie = *old_process.Open("a");
  ASSERT_THAT(old_process.Publish(zombie, 1), IsOk());
  old_process.Upload(zombie);
  const ProducerRef successor = *new_process.Open("a");
  old_process.Commit();
  EXPECT_THAT(old_process.pipeline().AwaitCommitted(*zombie, kForever),
              IsError(ErrorCode::kFenced, HasSubstr("producer=a")));
  EXPECT_THAT(old_process.Publish(zombie, 2), IsError(ErrorCode::kFenced));
  ASSERT_THAT(new_process.Publish(successor, 7), IsOkAndHolds(1u));
  new_process.Upload(successor);
  new_process.Commit();
  EXPECT_EQ(Cursors(), std::vector<std::string>{"7"});
}

TEST_F(ProducerCoreTest, FencedProducerDoesNotDisturbTheOthersOfItsProcess) {
  ProducerProcess process(env_, memory_, stream_);
  ProducerProcess other(env_, memory_, stream_);
  const ProducerRef a = *process.Open("a");
  const ProducerRef b = *process.Open("b");
  ASSERT_THAT(other.Open("a"), IsOk());
  for (const ProducerRef& producer : {a, b}) {
    ASSERT_THAT(process.Publish(producer, 1), IsOk());
    process.Upload(producer);
  }
  process.Commit();
  EXPECT_THAT(process.pipeline().AwaitCommitted(*a, kForever), IsError(ErrorCode::kFenced));
  EXPECT_THAT(process.pipeline().AwaitCommitted(*b, kForever), IsOk());
}

// Covers C2.
TEST_F(ProducerCoreTest, SourceThatRewoundIsRefusedAndBothCursorsAreNamed) {
  ProducerProcess process(env_, memory_, stream_);
  const ProducerRef producer = *process.Open("a");
  ASSERT_THAT(process.Publish(producer, 1), IsOk());
  const Result<uint64_t> rewound =
      process.pipeline().Enqueue(*producer, OneSlice("x"), {.cursor = ToBytes("2"), .cursor_before = ToBytes("0")});
  EXPECT_THAT(rewound,
              IsError(ErrorCode::kInvalidArgument, HasSubstr("cursor_before=30 cursor_after_the_last_batch=31")));
  EXPECT_THAT(
      process.pipeline().Enqueue(*producer, OneSlice("x"), {.cursor = ToBytes("2"), .cursor_before = ToBytes("1")}),
      IsOkAndHolds(2u));
}

// Covers C2, C4.
TEST_F(ProducerCoreTest, SuccessorGoesOnAtTheCommittedCursor) {
  ProducerProcess first(env_, memory_, stream_);
  const ProducerRef dead = *first.Open("a");
  for (const uint64_t number : {1, 2}) ASSERT_THAT(first.Publish(dead, number), IsOk());
  first.Upload(dead);
  first.Commit();  // The second batch dies with the process.
  ProducerProcess second(env_, memory_, stream_);
  const ProducerRef successor = *second.Open("a");
  EXPECT_EQ(successor->opened.cursor, ToBytes("1"));
  EXPECT_EQ(successor->opened.seq, 1u);
  EXPECT_GT(successor->opened.incarnation, dead->opened.incarnation);
}

TEST_F(ProducerCoreTest, LimitsAreCheckedBeforeAnythingIsTaken) {
  ProducerProcess process(env_, memory_, stream_);
  const ProducerRef producer = *process.Open("a");
  Pipeline& pipeline = process.pipeline();
  EXPECT_THAT(pipeline.Enqueue(*producer, OneSlice("x"), {.cursor = Bytes(kCursorBytesMax + 1)}),
              IsError(ErrorCode::kInvalidArgument, HasSubstr("bytes=1025 max=1024")));
  EXPECT_THAT(pipeline.Enqueue(*producer, OneSlice("x"), {.cursor = {}, .metadata = Bytes(kMetadataBytesMax + 1)}),
              IsError(ErrorCode::kInvalidArgument, HasSubstr("metadata")));
  EXPECT_THAT(pipeline.Enqueue(*producer, GlobalBatch({.dp = 1, .cp = 1}), {}), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(process.Publish(producer, 1), IsOkAndHolds(1u));
}

TEST_F(ProducerCoreTest, BatchThatWasRefusedIsLeftWithTheCaller) {
  ProducerProcess process(env_, memory_, stream_);
  const ProducerRef producer = *process.Open("a");
  GlobalBatch batch = OneSlice("kept");
  GlobalBatch& offered = batch;  // To be taken or left.
  ASSERT_THAT(process.pipeline().Enqueue(*producer, std::move(offered), {.cursor = Bytes(2000)}),
              IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(process.pipeline().Enqueue(*producer, std::move(batch), {}), IsOkAndHolds(1u));
}

// Covers M14.
TEST_F(ProducerCoreTest, FinishedProducerAnswersWithItsCursorUnlessReopened) {
  ProducerProcess process(env_, memory_, stream_);
  const ProducerRef producer = *process.Open("a");
  ASSERT_THAT(process.Publish(producer, 5), IsOk());
  process.Upload(producer);
  EXPECT_THAT(process.pipeline().AwaitFinished(*producer, env_.clock.Now()), IsError(ErrorCode::kStalled));
  const Version before = Newest().version;
  process.Commit();
  EXPECT_THAT(process.pipeline().AwaitFinished(*producer, kForever), IsOk());
  EXPECT_EQ(Newest().version, Next(before));  // The batch and the mark together.
  EXPECT_THAT(process.Publish(producer, 6), IsError(ErrorCode::kClosed));

  ProducerProcess restarted(env_, memory_, stream_);
  EXPECT_THAT(restarted.Open("a"), IsError(ErrorCode::kAlreadyExists, HasSubstr("cursor=35")));
  EXPECT_EQ(Newest().version, Next(before));
  const Result<ProducerRef> reopened = restarted.Open("a", {.reopen = true});
  ASSERT_THAT(reopened, IsOk());
  EXPECT_EQ((*reopened)->opened.cursor, ToBytes("5"));
  EXPECT_THAT(restarted.Publish(*reopened, 6), IsOkAndHolds(2u));
}

// Covers M9.
TEST_F(ProducerCoreTest, SealEndsTheProducerAndSaysWhatWasDropped) {
  ProducerProcess process(env_, memory_, stream_);
  const ProducerRef producer = *process.Open("a");
  ASSERT_THAT(process.Publish(producer, 1), IsOk());
  process.Upload(producer);
  ManifestLog log = Truth();
  ASSERT_THAT(CommitChange(log, kForever, [](Manifest& next) -> Result<bool> { return next.sealed = true; }), IsOk());
  process.Commit();
  EXPECT_THAT(process.pipeline().AwaitCommitted(*producer, kForever),
              IsError(ErrorCode::kSealed, HasSubstr("dropped=1")));
  EXPECT_THAT(process.Open("b"), IsError(ErrorCode::kSealed));
  EXPECT_TRUE(Cursors().empty());
}

// Covers A7, C4.
TEST_F(ProducerCoreTest, DiskThatWasFullLosesNothingOnceThereIsRoom) {
  FaultyStore store(
      memory_,
      {.fail_call = 1, .code = ErrorCode::kDenied, .filter = {.calls = kCallCreate, .key = KeyContains("/data/")}});
  ProducerProcess process(env_, store, stream_);
  const ProducerRef producer = *process.Open("a");
  ASSERT_THAT(process.Publish(producer, 1), IsOk());
  const std::optional<UploadJob> job = process.pipeline().TakeUpload();
  process.pipeline().FinishUpload(*job, UploadOne(env_.Over(store), stream_.keys(), *job));
  EXPECT_THAT(process.pipeline().AwaitCommitted(*producer, kForever),
              IsError(ErrorCode::kDenied, HasSubstr("upload of batch 1")));
  process.Upload(producer);
  process.Commit();
  EXPECT_THAT(process.pipeline().AwaitCommitted(*producer, kForever), IsOk());
  EXPECT_EQ(Cursors(), std::vector<std::string>{"1"});
}

// Covers M10, A8.
TEST_F(ProducerCoreTest, UndecidedCommitIsResolvedAndNotSentAgainAsNew) {
  FaultyStore store(memory_, {.fail_call = 1,
                              .calls = Fault::kAllCalls,
                              .when = FaultWhen::kLater,
                              .code = ErrorCode::kUnknownOutcome,
                              .filter = {.calls = kCallCreate, .key = [this](std::string_view key) {
                                           return key == stream_.keys().Manifest({3});
                                         }}});
  ProducerProcess process(env_, store, stream_);
  const ProducerRef producer = *process.Open("a");  // Version 2.
  ASSERT_THAT(process.Publish(producer, 1), IsOk());
  process.Upload(producer);
  process.Commit();
  EXPECT_THAT(process.pipeline().AwaitCommitted(*producer, kForever),
              IsError(ErrorCode::kStalled, HasSubstr("undecided")));
  ASSERT_THAT(process.Publish(producer, 2), IsOk());
  process.Upload(producer);
  store.ApplyDelayed();  // It was applied after all.
  process.Commit();      // Decides version 3, and only then goes on.
  EXPECT_EQ(Cursors(), std::vector<std::string>{"1"});
  process.Commit();
  EXPECT_EQ(Cursors(), (std::vector<std::string>{"1", "2"}));
}

// Covers M4, M11.
TEST_F(ProducerCoreTest, EveryPackingHasAKeyOfItsOwnAndNobodyDeletes) {
  FaultyStore watched(memory_,
                      {.fail_call = 1, .calls = Fault::kAllCalls, .filter = {.calls = kCallDelete | kCallOverwrite}});
  ProducerProcess old_process(env_, watched, stream_);
  ProducerProcess new_process(env_, watched, stream_);
  const ProducerRef zombie = *old_process.Open("a");
  const ProducerRef successor = *new_process.Open("a");
  for (const auto& [process, producer] : {std::pair(&old_process, zombie), std::pair(&new_process, successor)}) {
    ASSERT_THAT(process->Publish(producer, 1), IsOkAndHolds(1u));
    process->Upload(producer);
    process->Commit();
  }
  const Result<ListPage> data = memory_.List(stream_.keys().DataPrefix() + "a/", "", 100);
  EXPECT_EQ(data->objects.size(), 2u);  // The same seq twice, under two keys; what lost is the reclaimer's.
  EXPECT_EQ(watched.calls(), 0u);
}

TEST_F(ProducerCoreTest, TimeInWhichNobodyWaitedIsNoStall) {
  ProducerProcess process(env_, memory_, stream_);
  const ProducerRef producer = *process.Open("a");
  env_.clock.Advance(std::chrono::hours(1));
  const TimePoint began = env_.clock.Now();
  EXPECT_THAT(process.pipeline().AwaitFinished(*producer, kForever), IsError(ErrorCode::kStalled));
  EXPECT_GE(env_.clock.Now() - began, producer->options.stall_after);
  EXPECT_THAT(process.pipeline().AwaitFinished(*producer, kForever), IsError(ErrorCode::kStalled));
  EXPECT_GE(env_.clock.Now() - began, producer->options.stall_after * 2);
}

TEST_F(ProducerCoreTest, StallSaysWhatIsAwaitedAndWhy) {
  FaultyStore store(
      memory_,
      {.fail_call = 1, .calls = Fault::kAllCalls, .filter = {.calls = kCallCreate, .key = KeyContains("/manifest/0")}});
  ProducerProcess process(env_, memory_, stream_);
  const ProducerRef producer = *process.Open("a");
  ASSERT_THAT(process.Publish(producer, 1), IsOk());
  process.Upload(producer);
  EXPECT_THAT(process.pipeline().AwaitCommitted(*producer, kForever),
              IsError(ErrorCode::kStalled, HasSubstr("waiting for batch 1 of a")));
}

// Covers A1, A2, A3, A8, C1, C4, I4, I5, I7.
TEST_F(ProducerCoreTest, AnySingleFailureLosesAndDoublesNothing) {
  for (const FaultWhen late : {FaultWhen::kBefore, FaultWhen::kLater}) {
    ForEachFailure([&](Fault fault) {
      if (late == FaultWhen::kLater && fault.when == FaultWhen::kAfter) fault.when = late;
      MemoryStore memory;
      StreamBuilder stream(memory);
      FaultyStore store(memory, fault);
      ProducerProcess process(env_, store, stream);
      Result<ProducerRef> producer = process.Open("a");
      if (!producer.ok()) producer = process.Open("a");
      EXPECT_THAT(producer, IsOk());
      for (const uint64_t number : {1, 2, 3}) {
        EXPECT_THAT(process.Publish(*producer, number), IsOkAndHolds(number));
        process.Upload(*producer);
        if (number == 2) store.ApplyDelayed();
        while (process.pipeline().CommittedSeqOf(**producer) < number) process.Commit();
      }
      store.ApplyDelayed();
      ManifestLog truth(env_.Over(memory), stream.keys(), stream.stream_json_hash());
      const Manifest newest = truth.ReadNewest()->manifest;
      EXPECT_EQ(newest.tail.size(), 3u);
      for (const Entry& entry : newest.tail) {
        EXPECT_EQ(AsText(entry.cursor), std::to_string(entry.seq));
        EXPECT_THAT(memory.Stat(stream.keys().Data("a", entry.incarnation, entry.seq, entry.parts[0].nonce)),
                    IsOkAndHolds(entry.parts[0].object_bytes));
      }
      return store.fired();
    });
  }
}

}  // namespace
}  // namespace batchweave
