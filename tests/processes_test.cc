// Processes that share nothing but a directory, and die at any point.
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "batchweave/lifecycle/reclaim.h"
#include "batchweave/stream/stream.h"
#include "batchweave/testing/child_process.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/seeded_random.h"
#include "batchweave/testing/temporary_directory.h"
#include "tests/process.h"

namespace batchweave {
namespace {

// A source of `batches` numbered batches that goes on where the last holder of its name stood. False on any error.
bool RunProducer(const std::string& directory, const std::string& name, uint64_t batches, KillPoint point = {}) {
  Process process(directory, std::move(point));
  Result<Stream> stream = Stream::Open(process.env(), "run");
  if (!stream.ok()) return false;
  Result<Producer> producer = stream->OpenProducer(name);
  // Killed right after its last commit, it has finished.
  if (FailedWith(producer, ErrorCode::kAlreadyExists)) return true;
  if (!producer.ok()) return false;
  for (uint64_t number = NumberIn(producer->cursor()) + 1; number <= batches; ++number) {
    GlobalBatch batch({.dp = 2, .cp = 1});
    for (const uint32_t dp : {0u, 1u}) {
      if (!batch.Set({.dp = dp}, ToBytes(name + " " + std::to_string(number))).ok()) return false;
    }
    const PublishOptions options{.cursor = ToBytes(std::to_string(number)),
                                 .cursor_before = ToBytes(std::to_string(number - 1))};
    if (!producer->Publish(std::move(batch), options).ok() || !producer->Flush().ok()) return false;
  }
  return producer->Finish().ok();
}

class ProcessesTest : public ::testing::Test {
 protected:
  // Publishes `batches` more under `name`, one version each.
  void Publish(const std::string& name, uint64_t batches) {
    Process process(directory_.path());
    Result<Stream> stream = Stream::Open(process.env(), "run");
    Result<Producer> producer = stream->OpenProducer(name);
    ASSERT_THAT(producer, IsOk());
    for (uint64_t i = 0; i < batches; ++i) {
      GlobalBatch batch({.dp = 1, .cp = 1});
      ASSERT_THAT(batch.Set({}, ToBytes(name)), IsOk());
      ASSERT_THAT(producer->Publish(std::move(batch), {}), IsOk());
      ASSERT_THAT(producer->Flush(), IsOk());
    }
  }
  // Lets go of all steps below `step`, and removes what is dead then.
  void TrimAndReclaim(Step step) {
    Process process(directory_.path());
    Result<Stream> stream = Stream::Open(process.env(), "run");
    const Result<void> created = stream->CreateGroup("train", Step{0});
    ASSERT_TRUE(created.ok() || created.error().code == ErrorCode::kAlreadyExists);
    Result<Group> group = stream->OpenGroup("train", {.start = step});
    ASSERT_THAT(group, IsOk());
    ASSERT_THAT(group->Checkpoint("only", step, {.keep_last = 1}), IsOk());
    ASSERT_THAT(Reclaim(stream->log()), IsOk());
  }
  void CreateStream() {
    Process process(directory_.path());
    ASSERT_THAT(Stream::Create(process.env(), "run"), IsOk());
  }
  TemporaryDirectory directory_;
};

// Covers C4, A8, I4, I5, I7.
TEST_F(ProcessesTest, ProducerKilledAtAnyCallGoesOnWhereItsCommitsEnd) {
  for (const bool after_effect : {false, true}) {
    bool killed = true;
    for (size_t call = 1; killed; ++call) {
      SCOPED_TRACE(::testing::Message() << "killed at call " << call << (after_effect ? ", after it" : ", before it"));
      const TemporaryDirectory directory;
      {
        Process process(directory.path());
        ASSERT_THAT(Stream::Create(process.env(), "run"), IsOk());
      }
      const auto run = [&](KillPoint point) {
        return ChildProcess([&] { return RunProducer(directory.path(), "a", 3, point); }).Wait();
      };
      killed = !run({.call = call, .after_effect = after_effect});
      ASSERT_TRUE(!killed || run({}));
      ExpectWhole(directory.path(), 3);
    }
  }
}

struct Crowd {
  size_t processes;
  uint64_t batches;
};

class CrowdTest : public ProcessesTest, public ::testing::WithParamInterface<Crowd> {};

INSTANTIATE_TEST_SUITE_P(Sizes, CrowdTest, ::testing::Values(Crowd{8, 20}, Crowd{64, 4}),
                         [](const auto& test) { return "Of" + std::to_string(test.param.processes); });

// Covers C4, I1, I3, I5.
TEST_P(CrowdTest, ProcessesThatAreKilledAtRandomLoseAndDoubleNothing) {
  const uint64_t kBatches = GetParam().batches;
  CreateStream();
  SeededRandom random(20);
  std::vector<std::unique_ptr<ChildProcess>> children(GetParam().processes);
  const auto start = [&](size_t i, KillPoint point) {
    const std::string name = "p" + std::to_string(i);
    children[i] = std::make_unique<ChildProcess>([&] { return RunProducer(directory_.path(), name, kBatches, point); });
  };
  // Each dies up to three times, at calls that may be in any of what it does, then runs to its end.
  for (int life = 0; life < 4; ++life) {
    for (size_t i = 0; i < children.size(); ++i) {
      if (children[i]) static_cast<void>(children[i]->Wait());
      const KillPoint point{.call = 1 + random.Next() % 150, .after_effect = random.Next() % 2 == 0};
      start(i, life < 3 ? point : KillPoint{});
    }
  }
  for (const auto& child : children) EXPECT_TRUE(child->Wait());
  ExpectWhole(directory_.path(), children.size() * kBatches);
}

// Covers B6.
TEST_F(ProcessesTest, OfThirtyTwoCreatorsOneWinsAndAllOpenTheSame) {
  std::vector<std::unique_ptr<ChildProcess>> children;
  for (int i = 0; i < 32; ++i) {
    children.push_back(std::make_unique<ChildProcess>([&] {
      Process process(directory_.path());
      const Result<Stream> created = Stream::Create(process.env(), "run");
      const Result<Stream> opened = Stream::Open(process.env(), "run");
      if (!opened.ok() || (created.ok() && created->id() != opened->id())) return false;
      if (!created.ok() && created.error().code != ErrorCode::kAlreadyExists) return false;
      const std::string key = (created.ok() ? "won/" : "lost/") + std::to_string(getpid());
      return PutBytes(process.env().store, key, {}, PutMode::kCreate).ok();
    }));
  }
  for (const auto& child : children) EXPECT_TRUE(child->Wait());
  Process process(directory_.path());
  EXPECT_EQ(process.env().store.List("won/", "", 100)->objects.size(), 1u);
  EXPECT_EQ(process.env().store.List("lost/", "", 100)->objects.size(), 31u);
}

// Covers B2, I6.
TEST_F(ProcessesTest, TwoProcessesWithOneNameDoNotFightForEver) {
  CreateStream();
  ChildProcess first([&] { return RunProducer(directory_.path(), "a", 200); });
  ChildProcess second([&] { return RunProducer(directory_.path(), "a", 200); });
  const bool first_ended = first.Wait();
  const bool second_ended = second.Wait();
  // The later one fenced the other; if that had finished already, it was told so.
  EXPECT_TRUE(first_ended || second_ended);
  ExpectWhole(directory_.path(), 200);
}

// Covers M8.
TEST_F(ProcessesTest, ForkedChildrenDrawNumbersOfTheirOwn) {
  Process process(directory_.path());
  static_cast<void>(process.env().random.Next());  // Whatever a generator would keep is there before the fork.
  const auto draw = [&] {
    const std::string key = "drawn/" + std::to_string(process.env().random.Next());
    return PutBytes(process.env().store, key, {}, PutMode::kCreate).ok();
  };
  ChildProcess first(draw);
  ChildProcess second(draw);
  EXPECT_TRUE(first.Wait());
  EXPECT_TRUE(second.Wait());
  EXPECT_TRUE(draw());
  EXPECT_EQ(process.env().store.List("drawn/", "", 100)->objects.size(), 3u);
}

// Covers B1, I1.
TEST_F(ProcessesTest, CommitterThatSleepsThroughAReclaimFindsATombstoneAndIsFenced) {
  CreateStream();
  Publish("other", 3);
  ChildProcess sleeper([&] {
    Process process(directory_.path(), {.call = 2,  // After its opening.
                                        .signal = SIGSTOP,
                                        .filter = {.calls = kCallCreate, .key = KeyContains("/manifest/")}});
    Result<Stream> stream = Stream::Open(process.env(), "run");
    Result<Producer> producer = stream->OpenProducer("a");
    GlobalBatch batch({.dp = 1, .cp = 1});
    if (!producer.ok() || !batch.Set({}, ToBytes("late")).ok()) return false;
    if (!producer->Publish(std::move(batch), {}).ok()) return false;
    return FailedWith(producer->Flush(), ErrorCode::kFenced);
  });
  ASSERT_TRUE(sleeper.AwaitStopped());
  Publish("a", 80);  // More than the versions that are never retired.
  TrimAndReclaim(Step{83});
  sleeper.Continue();
  EXPECT_TRUE(sleeper.Wait());
  ExpectWhole(directory_.path(), 83);
}

// Covers D7.
TEST_F(ProcessesTest, RankThatSleepsThroughTrimAndReclaimIsToldSo) {
  CreateStream();
  Publish("a", 10);
  ChildProcess sleeper([&] {
    Process process(directory_.path(),
                    {.call = 1, .signal = SIGSTOP, .filter = {.calls = kCallGet, .key = KeyContains("/data/")}});
    Result<Stream> stream = Stream::Open(process.env(), "run");
    Result<Consumer> rank = stream->OpenConsumer({.position = Step{2}, .prefetch_steps_max = 0});
    return rank.ok() && FailedWith(rank->Next(), ErrorCode::kTrimmed);
  });
  ASSERT_TRUE(sleeper.AwaitStopped());
  TrimAndReclaim(Step{8});
  sleeper.Continue();
  EXPECT_TRUE(sleeper.Wait());
}

// Covers D1, D5, I9.
TEST_F(ProcessesTest, ReclaimerThatSleepsDeletesNothingThatLives) {
  CreateStream();
  Publish("a", 10);
  TrimAndReclaim(Step{1});
  ChildProcess sleeper([&] {
    Process process(directory_.path(), {.call = 1, .signal = SIGSTOP, .filter = {.calls = kCallDelete}});
    Result<Stream> stream = Stream::Open(process.env(), "run");
    Result<Group> group = stream->OpenGroup("train", {.start = Step{5}});
    if (!group.ok() || !group->Checkpoint("mine", Step{5}, {.keep_last = 1}).ok()) return false;
    return Reclaim(stream->log(), {.overwrite_probed = true}).ok();
  });
  ASSERT_TRUE(sleeper.AwaitStopped());
  Publish("a", 5);
  TrimAndReclaim(Step{9});
  sleeper.Continue();
  EXPECT_TRUE(sleeper.Wait());
  ExpectWhole(directory_.path(), 15);
}

}  // namespace
}  // namespace batchweave
