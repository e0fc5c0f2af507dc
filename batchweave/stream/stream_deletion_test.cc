// What handles tell of a stream that was deleted under them, and on which committers go on that slept through it.
#include <gtest/gtest.h>

#include "batchweave/lifecycle/delete_stream.h"
#include "batchweave/log/change.h"
#include "batchweave/log/pending_commit.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/stream/describe.h"
#include "batchweave/stream/stream.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/seeded_random.h"
#include "batchweave/testing/test_env.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

class StreamDeletionTest : public ::testing::Test {
 protected:
  static Result<uint64_t> Publish(Producer& producer) {
    GlobalBatch batch({.dp = 1, .cp = 1});
    BW_TRY(batch.Set({}, ToBytes("x")));
    return producer.Publish(std::move(batch), {});
  }
  static void PublishAndFlush(Producer& producer, int batches) {
    for (int i = 0; i < batches; ++i) ASSERT_THAT(Publish(producer), IsOk());
    ASSERT_THAT(producer.Flush(), IsOk());
  }
  // A commit that was frozen on what is newest now, and is sent by one who sleeps meanwhile.
  PendingCommit Freeze() {
    const LoggedManifest base = *sleeper_.log().ReadNewest();
    return PendingCommit(sleeper_.log(), base, *BeginNext(base));
  }
  // The stream is deleted; the sleeper wakes, and goes on until its newest version is `newest`.
  void DeleteAndGoOn(PendingCommit frozen, Version newest) {
    ASSERT_THAT(DeleteStream(stream_.env(), "run", kForever), IsOk());
    ASSERT_THAT(frozen.Resolve(kForever), IsOkAndHolds(PendingCommit::Outcome::kCommitted));
    const auto nothing_new = [](Manifest&) -> Result<bool> { return true; };
    while (sleeper_.log().FindNewest().value() < newest) {
      ASSERT_THAT(CommitChange(sleeper_.log(), kForever, nothing_new), IsOk());
    }
  }

  static constexpr auto IsGone = [] { return IsError(ErrorCode::kNotFound, HasSubstr("the stream was deleted")); };

  MemoryStore memory_;
  SystemClock clock_;
  SeededRandom random_{1};
  SystemThreads threads_;
  const Env env_{.store = memory_, .clock = clock_, .random = random_, .threads = threads_};
  Stream stream_ = *Stream::Create(env_, "run");
  Stream sleeper_ = *Stream::Open(env_, "run");
};

// It waits for readers who will never come.
TEST_F(StreamDeletionTest, AProducerWithALimitThatSleptIsToldSo) {
  TestEnv no_waiting;
  Stream slept = *Stream::Open(no_waiting.Over(memory_), "run");
  ASSERT_THAT(stream_.CreateGroup("train", Step{0}), IsOk());
  Producer first = *stream_.OpenProducer("a");
  PublishAndFlush(first, 3);
  Producer limited = *slept.OpenProducer("b", {.max_lead_steps = 2});
  DeleteAndGoOn(Freeze(), slept.log().FindNewest().value());
  EXPECT_THAT(Publish(limited), IsGone());
}

// The other sleeper knew nothing of its batches.
TEST_F(StreamDeletionTest, AProducerWhoseBatchesAreNotInTheNewHistoryIsToldSo) {
  Producer producer = *stream_.OpenProducer("a");
  PendingCommit frozen = Freeze();
  PublishAndFlush(producer, 2);
  const Version known = stream_.log().FindNewest().value();
  DeleteAndGoOn(std::move(frozen), Next(known));
  ASSERT_THAT(Publish(producer), IsOk());
  EXPECT_THAT(producer.Flush(), IsGone());
}

TEST_F(StreamDeletionTest, AStepThatCannotBeDescribedIsToldSo) {
  Producer producer = *stream_.OpenProducer("a");
  PublishAndFlush(producer, 1);
  DeleteAndGoOn(Freeze(), Version{0});
  EXPECT_THAT(ExplainMissing(stream_, Step{0}, "data/x").code, ErrorCode::kNotFound);
}

TEST_F(StreamDeletionTest, AJobIsToldSo) {
  ASSERT_THAT(stream_.CreateGroup("train", Step{0}), IsOk());
  PendingCommit frozen = Freeze();
  Group group = *stream_.OpenGroup("train", {.start = Step{0}});
  DeleteAndGoOn(std::move(frozen), stream_.log().FindNewest().value());
  EXPECT_THAT(group.Checkpoint("a", Step{0}, {.keep_last = 1}), IsGone());
  EXPECT_THAT(stream_.OpenConsumer({.group = "train", .session = group.session()}), IsGone());
}

}  // namespace
}  // namespace batchweave
