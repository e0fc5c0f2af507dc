// A whole stream on a real server: what is published is read, kept as long as it is held, and whole throughout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "batchweave/lifecycle/reclaim.h"
#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "batchweave/stream/verify.h"
#include "batchweave/testing/child_process.h"
#include "batchweave/testing/matchers.h"
#include "tests/cloud/local_server.h"

namespace batchweave {
namespace {

class CloudStreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_ = LocalServer::Versitygw();
    if (server_ == nullptr) GTEST_SKIP() << "not installed";
    env_ = OpenEnv(server_->Url("runs"), {.storage_options = server_->options()}).value();
    ASSERT_THAT(Stream::Create(env(), "run"), IsOk());
    stream_ = Stream::Open(env(), "run").value();
  }

  Env env() { return env_->env(); }

  static std::string Text(uint64_t number) { return "batch " + std::to_string(number); }

  // Publishes the batches from where the last holder of the name stood up to `end`, one version each.
  void Publish(uint64_t end) { Publish(*stream_, end); }
  static void Publish(Stream& stream, uint64_t end) {
    Producer producer = stream.OpenProducer("a").value();
    for (uint64_t number = producer.cursor() ? std::stoull(std::string(AsText(*producer.cursor()))) : 0; number < end;
         ++number) {
      GlobalBatch batch({.dp = 2, .cp = 1});
      for (const uint32_t dp : {0u, 1u}) ASSERT_THAT(batch.Set({.dp = dp}, ToBytes(Text(number))), IsOk());
      ASSERT_THAT(producer.Publish(std::move(batch), {.cursor = ToBytes(std::to_string(number + 1))}), IsOk());
      ASSERT_THAT(producer.Flush(), IsOk());
    }
  }

  void ExpectRead(uint64_t begin, uint64_t end) {
    Consumer rank = stream_->OpenConsumer({.position = Step{begin}}).value();
    for (uint64_t number = begin; number < end; ++number) {
      const Result<std::optional<RankBatch>> batch = rank.Next();
      ASSERT_THAT(batch, IsOk());
      ASSERT_TRUE(batch->has_value());
      EXPECT_EQ(AsText((*batch)->slices()[0].bytes), Text(number));
    }
  }

  void ExpectWhole(uint64_t first, uint64_t next) {
    const Result<VerifyReport> report = VerifyStream(*stream_, {.deep = true});
    ASSERT_THAT(report, IsOk());
    EXPECT_TRUE(report->ok()) << report->findings.front().message;
    EXPECT_EQ(report->first_step, Step{first});
    EXPECT_EQ(report->next_step, Step{next});
  }

  std::unique_ptr<LocalServer> server_;
  std::unique_ptr<OwnedEnv> env_;
  std::optional<Stream> stream_;
};

// Covers D1, D8.
TEST_F(CloudStreamTest, WhatIsHeldStaysAndTheRestIsReclaimed) {
  constexpr uint64_t kBatches = 80;  // More versions than stay.
  ASSERT_THAT(stream_->CreateGroup("train", Step{0}), IsOk());
  Publish(kBatches);
  ExpectRead(0, kBatches);
  ExpectWhole(0, kBatches);
  Group group = stream_->OpenGroup("train", {.start = Step{50}}).value();
  ASSERT_THAT(group.Checkpoint("model", Step{50}, {.keep_last = 1}), IsOk());
  ASSERT_THAT(Reclaim(stream_->log()), IsOk());
  ExpectWhole(50, kBatches);
  ExpectRead(50, kBatches);
  uint64_t objects = 0;
  ASSERT_THAT(ForEachObject(env().store, "run/" + ToString(stream_->id()) + "/data/",
                            [&](const ListedObject&) -> Result<void> { return ++objects, Result<void>(); }),
              IsOk());
  EXPECT_EQ(objects, kBatches - 50);
}

// Covers A2, A3.
TEST_F(CloudStreamTest, AServerThatIsKilledAndComesBackLosesAndDoublesNothing) {
  Publish(10);
  for (int round = 0; round < 3; ++round) {
    std::thread outage([&] {
      SystemClock clock;
      server_->Kill();
      clock.SleepUntil(After(clock.Now(), std::chrono::milliseconds(300)));
      server_->Start();
    });
    Publish(20 + 10 * static_cast<uint64_t>(round));
    outage.join();
  }
  ExpectRead(0, 40);
  ExpectWhole(0, 40);
}

// The threads of a store's client do not live on in a forked child, which makes its own.
TEST_F(CloudStreamTest, AForkedProcessGoesOnWithTheStoreOfItsParent) {
  Publish(3);
  ChildProcess child([&] {
    Stream own = Stream::Open(env(), "run").value();
    Publish(own, 6);
    return !HasFailure();
  });
  EXPECT_TRUE(child.Wait());
  ExpectRead(0, 6);
  ExpectWhole(0, 6);
}

}  // namespace
}  // namespace batchweave
