// A whole stream on a real server: what is published is read, kept as long as it is held, and whole throughout.
#include <thread>

#include "batchweave/lifecycle/reclaim.h"
#include "batchweave/testing/child_process.h"
#include "tests/cloud/stream_on_server.h"

namespace batchweave {
namespace {

using CloudStreamTest = StreamOnServer;
INSTANTIATE_TEST_SUITE_P(Cloud, CloudStreamTest, ::testing::ValuesIn(kServers), ServerName);

// Covers D1, D8, E3.
TEST_P(CloudStreamTest, WhatIsHeldStaysAndTheRestIsReclaimed) {
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
  EXPECT_EQ(DataObjects(), kBatches - 50);
}

// Covers A2, A3.
TEST_P(CloudStreamTest, AServerThatIsKilledAndComesBackLosesAndDoublesNothing) {
  if (!GetParam().keeps_what_it_acknowledged) GTEST_SKIP() << "it loses what it acknowledged";
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
TEST_P(CloudStreamTest, AForkedProcessGoesOnWithTheStoreOfItsParent) {
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
