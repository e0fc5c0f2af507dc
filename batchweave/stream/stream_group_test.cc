// A training job on a stream: its group, its sessions, and what its ranks read under them.
#include <gtest/gtest.h>

#include <thread>

#include "batchweave/lifecycle/quarantine.h"
#include "batchweave/lifecycle/reclaim.h"
#include "batchweave/lifecycle/trim.h"
#include "batchweave/producer/lead_limit.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/stream/stream.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/seeded_random.h"

namespace batchweave {
namespace {

// A sealed stream of ten steps, read and held through the facade.
class StreamGroupTest : public ::testing::Test {
 protected:
  StreamGroupTest() {
    PublishTen(stream_);
    EXPECT_THAT(stream_.Seal(), IsOkAndHolds(Step{10}));
    EXPECT_THAT(stream_.CreateGroup("train", Step{0}), IsOk());
  }

  static void PublishTen(Stream& stream) {
    Producer producer = *stream.OpenProducer("a");
    for (uint64_t number = 0; number < 10; ++number) {
      GlobalBatch batch({.dp = 1, .cp = 1});
      EXPECT_THAT(batch.Set({}, ToBytes("batch " + std::to_string(number))), IsOk());
      EXPECT_THAT(producer.Publish(std::move(batch), {}), IsOk());
    }
    EXPECT_THAT(producer.Finish(), IsOk());
  }

  std::vector<uint64_t> StepsOf(const Group& group, Step position, uint32_t prefetch_steps_max = 4) {
    Result<Consumer> rank = stream_.OpenConsumer({.position = position,
                                                  .group = group.name(),
                                                  .session = group.session(),
                                                  .prefetch_steps_max = prefetch_steps_max});
    std::vector<uint64_t> steps;
    EXPECT_THAT(rank, IsOk());
    while (rank.ok()) {
      const Result<std::optional<RankBatch>> batch = rank->Next();
      if (!batch.ok() || !*batch) break;
      EXPECT_EQ(AsText((*batch)->slices()[0].bytes), "batch " + std::to_string((*batch)->step().value));
      steps.push_back((*batch)->step().value);
    }
    EXPECT_EQ(rank->position(), Step{10});
    return steps;
  }

  MemoryStore memory_;
  SystemClock clock_;
  SeededRandom random_{1};
  SystemThreads threads_;
  Stream stream_ = *Stream::Create({.store = memory_, .clock = clock_, .random = random_, .threads = threads_}, "run");
};

// Covers I11, M13.
TEST_F(StreamGroupTest, RanksOfASessionSkipWhatWasQuarantinedBeforeItHoweverLateTheyOpen) {
  const Group before = *stream_.OpenGroup("train", {.start = Step{0}});
  EXPECT_EQ(StepsOf(before, Step{6}), (std::vector<uint64_t>{6, 7, 8, 9}));
  ASSERT_THAT(SetQuarantine(stream_.log(), {.first = Step{2}, .end = Step{4}}, "bad crawl", kForever), IsOk());
  ASSERT_THAT(SetQuarantine(stream_.log(), {.first = Step{8}, .end = Step{10}}, "bad crawl", kForever), IsOk());
  EXPECT_EQ(StepsOf(before, Step{0}).size(), 10u);
  const Group after = *stream_.OpenGroup("train", {.start = Step{0}});
  EXPECT_EQ(StepsOf(after, Step{0}), (std::vector<uint64_t>{0, 1, 4, 5, 6, 7}));
  ASSERT_THAT(LiftQuarantine(stream_.log(), {.first = Step{2}, .end = Step{4}}, kForever), IsOk());
  for (const uint32_t prefetch : {0u, 1u, 4u}) {
    EXPECT_EQ(StepsOf(after, Step{3}, prefetch), (std::vector<uint64_t>{4, 5, 6, 7}));
    // However far a rank has looked ahead, its position is the one of all others.
    Consumer rank = *stream_.OpenConsumer(
        {.position = Step{1}, .group = after.name(), .session = after.session(), .prefetch_steps_max = prefetch});
    EXPECT_EQ(rank.Next()->value().step(), Step{1});
    EXPECT_EQ(rank.position(), Step{2});
    EXPECT_EQ(rank.Next()->value().step(), Step{4});
    EXPECT_EQ(rank.position(), Step{5});
  }
}

// Covers M1.
TEST_F(StreamGroupTest, OlderSessionIsFencedFromReadingAndFromCheckpoints) {
  Group old_run = *stream_.OpenGroup("train", {.start = Step{0}});
  const Group new_run = *stream_.OpenGroup("train", {.start = Step{0}});
  EXPECT_THAT(old_run.Checkpoint("late", Step{9}, {.keep_last = 1}), IsError(ErrorCode::kFenced));
  EXPECT_THAT(stream_.OpenConsumer({.group = "train", .session = old_run.session()}), IsError(ErrorCode::kFenced));
  EXPECT_THAT(stream_.OpenConsumer({.group = "nobody", .session = new_run.session()}), IsError(ErrorCode::kNotFound));
  EXPECT_EQ(StepsOf(new_run, Step{0}).size(), 10u);
}

// Covers I8, G2.
TEST_F(StreamGroupTest, JobGoesBackToAnyCheckpointThatItStillHolds) {
  Group group = *stream_.OpenGroup("train", {.start = Step{0}});
  ASSERT_THAT(group.Checkpoint("a", Step{3}), IsOk());
  ASSERT_THAT(group.Checkpoint("b", Step{6}, {.reclaim = true}), IsOk());
  EXPECT_THAT(stream_.OpenGroup("train", {.start = Step{2}}), IsError(ErrorCode::kTrimmed));
  const Group again = *stream_.OpenGroup("train", {.start = Step{3}});
  EXPECT_EQ(StepsOf(again, Step{3}).front(), 3u);
  EXPECT_THAT(stream_.OpenConsumer({.position = Step{2}, .group = "train", .session = again.session()}),
              IsError(ErrorCode::kTrimmed));
}

TEST_F(StreamGroupTest, LeadIsCountedFromWhereTheSlowestGroupHasReached) {
  const auto exceeded = [&](LeadLimits limits) {
    return LeadLimit(stream_.log(), std::move(limits)).Exceeded()->has_value();
  };
  EXPECT_TRUE(exceeded({.steps_max = 10}));
  EXPECT_FALSE(exceeded({.steps_max = 11}));
  EXPECT_FALSE(exceeded({}));
  Group group = *stream_.OpenGroup("train", {.start = Step{0}});
  ASSERT_THAT(group.ReportProgress(Step{6}), IsOk());
  EXPECT_TRUE(exceeded({.steps_max = 4}));
  EXPECT_FALSE(exceeded({.steps_max = 5}));
  EXPECT_TRUE(exceeded({.bytes_max = 4}));
  EXPECT_FALSE(exceeded({.bytes_max = 1 << 20}));
  ASSERT_THAT(stream_.CreateGroup("slower", Step{1}), IsOk());
  EXPECT_TRUE(exceeded({.steps_max = 9}));
}

// Covers I12.
TEST_F(StreamGroupTest, ProducerThatWaitsForItsReadersIsWokenByItsClosing) {
  Stream stream = *Stream::Create(stream_.env(), "live");
  ASSERT_THAT(stream.CreateGroup("train", Step{0}), IsOk());
  Producer producer = *stream.OpenProducer("a", {.max_lead_steps = 1});
  const auto publish = [&] {
    GlobalBatch batch({.dp = 1, .cp = 1});
    EXPECT_THAT(batch.Set({}, ToBytes("x")), IsOk());
    return producer.Publish(std::move(batch), {});
  };
  ASSERT_THAT(publish(), IsOkAndHolds(1u));
  ASSERT_THAT(producer.Flush(), IsOk());
  std::thread waits([&] { EXPECT_THAT(publish(), IsError(ErrorCode::kClosed)); });
  producer.Close();
  waits.join();
}

// While it waits it commits nothing, so that nothing else would tell it; found by the simulator.
// Covers I12.
TEST_F(StreamGroupTest, ProducerThatWaitsForItsReadersLearnsOfItsEnd) {
  Stream stream = *Stream::Create(stream_.env(), "live");
  ASSERT_THAT(stream.CreateGroup("train", Step{0}), IsOk());
  const ProducerOptions limited{.max_lead_steps = 1};
  const auto publish = [](Producer& producer) {
    GlobalBatch batch({.dp = 1, .cp = 1});
    EXPECT_THAT(batch.Set({}, ToBytes("x")), IsOk());
    return producer.Publish(std::move(batch), {});
  };
  Producer producer = *stream.OpenProducer("a", limited);
  ASSERT_THAT(publish(producer), IsOkAndHolds(1u));
  ASSERT_THAT(producer.Flush(), IsOk());
  Producer newer = *stream.OpenProducer("a", limited);
  EXPECT_THAT(publish(producer), IsError(ErrorCode::kFenced));
  ASSERT_THAT(stream.Seal(), IsOk());
  EXPECT_THAT(publish(newer), IsError(ErrorCode::kSealed));
}

// Covers I8.
TEST_F(StreamGroupTest, RankWhoseStepsAreReleasedReadsThemOrIsTold) {
  for (const uint32_t prefetch : {0u, 4u}) {
    Stream stream = *Stream::Create(stream_.env(), "prefetch" + std::to_string(prefetch));
    PublishTen(stream);
    ASSERT_THAT(stream.CreateGroup("train", Step{0}), IsOk());
    Group group = *stream.OpenGroup("train", {.start = Step{0}});
    ASSERT_THAT(group.Checkpoint("a", Step{2}, {.keep_last = 1, .pin = true}), IsOk());
    ASSERT_THAT(group.Checkpoint("b", Step{8}, {.keep_last = 1}), IsOk());
    Consumer rank = *stream.OpenConsumer(
        {.position = Step{2}, .group = "train", .session = group.session(), .prefetch_steps_max = prefetch});
    ASSERT_EQ(rank.Next()->value().step(), Step{2});
    ASSERT_THAT(group.Release("a"), IsOk());
    ASSERT_THAT(Trim(stream.log(), kForever), IsOk());
    ASSERT_THAT(Reclaim(stream.log()), IsOk());
    Result<std::optional<RankBatch>> next = rank.Next();
    for (uint64_t step = 3; next.ok(); ++step, next = rank.Next()) {
      ASSERT_LT(step, 8u) << "all of it was read ahead, by a rank that reads four steps ahead";
      EXPECT_EQ(AsText((*next)->slices()[0].bytes), "batch " + std::to_string(step));
    }
    EXPECT_THAT(next, IsError(ErrorCode::kTrimmed));
  }
}

// Covers D4, I9.
TEST_F(StreamGroupTest, CheckpointThatReclaimsRemovesWhatItLetGoOf) {
  Group group = *stream_.OpenGroup("train", {.start = Step{0}});
  const auto data_objects = [&] { return memory_.List(stream_.log().keys().DataPrefix(), "", 100)->objects.size(); };
  ASSERT_THAT(group.Checkpoint("a", Step{4}, {.keep_last = 1}), IsOk());
  EXPECT_EQ(data_objects(), 10u);
  ASSERT_THAT(group.Checkpoint("b", Step{8}, {.keep_last = 1, .reclaim = true}), IsOk());
  EXPECT_EQ(data_objects(), 6u);  // What an earlier checkpoint let go of is for a whole reclaim.
  ASSERT_THAT(Reclaim(stream_.log()), IsOk());
  EXPECT_EQ(data_objects(), 2u);
}

}  // namespace
}  // namespace batchweave
