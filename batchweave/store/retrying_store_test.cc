#include "batchweave/store/retrying_store.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "batchweave/store/memory_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/forwarding_store.h"
#include "batchweave/testing/manual_clock.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/seeded_random.h"

namespace batchweave {
namespace {

using std::chrono::seconds;

class RetryingTest : public ::testing::Test {
 protected:
  Env Over(ObjectStore& store) { return {.store = store, .clock = clock_, .random = random_, .threads = threads_}; }
  Result<void> PutText(ObjectStore& store, std::string_view text, TimePoint deadline = kForever) {
    const ByteView piece = AsBytes(text);
    return PutUnique(Over(store), "key", {&piece, 1}, deadline);
  }

  MemoryStore memory_;
  ManualClock clock_;
  SeededRandom random_{1};
  SystemThreads threads_;
};

TEST_F(RetryingTest, ABackoffWaitsLongerAndLongerButNoLongerThanItsBound) {
  Backoff backoff(clock_, random_, {.first_delay = seconds(1), .delay_max = seconds(4), .attempts_max = 100}, kForever);
  Duration bound = seconds(1);
  for (int i = 0; i < 99; ++i) {
    const TimePoint before = clock_.Now();
    ASSERT_TRUE(backoff.Wait());
    EXPECT_LT(clock_.Now() - before, bound);
    bound = std::min<Duration>(2 * bound, seconds(4));
  }
  EXPECT_FALSE(backoff.Wait());
}

TEST_F(RetryingTest, ABackoffNeverWaitsBeyondTheDeadline) {
  const TimePoint deadline = clock_.Now() + seconds(3);
  Backoff backoff(clock_, random_, {.first_delay = seconds(1), .attempts_max = 1000}, deadline);
  while (backoff.Wait()) {
  }
  EXPECT_LE(clock_.Now(), deadline);
}

TEST_F(RetryingTest, EveryCallIsTriedAgainWhereNothingHappened) {
  ForEachFailure([&](const Fault& fault) {
    MemoryStore memory;
    FaultyStore faulty(memory, fault);
    if (fault.code != ErrorCode::kUnavailable) return false;
    RetryingStore store(faulty, clock_, random_);
    EXPECT_THAT(PutBytes(store, "a", AsBytes("x"), PutMode::kCreate), IsOk());
    EXPECT_THAT(PutBytes(store, "a", AsBytes("y"), PutMode::kOverwrite), IsOk());
    EXPECT_THAT(store.Stat("a"), IsOkAndHolds(1u));
    EXPECT_EQ(AsText(*store.Read("a")), "y");
    EXPECT_EQ(store.List("", "", 10)->objects.size(), 1u);
    const std::vector<std::string> keys = {"a"};
    EXPECT_THAT(store.Delete(keys), IsOk());
    return faulty.fired();
  });
}

// Refuses every second range that it is asked for, as a throttled store does.
class ThrottledStore final : public ForwardingStore {
 public:
  explicit ThrottledStore(ObjectStore& base) : ForwardingStore(base) {}
  size_t ranges() const { return ranges_; }

  Result<void> Get(std::span<ReadRequest> requests) override {
    bool refused = false;
    for (ReadRequest& request : requests) {
      request.done = ++ranges_ % 2 == 0;
      if (request.done) BW_TRY(base().Get({&request, 1}));
      refused = refused || !request.done;
    }
    return refused ? Result<void>(Error{ErrorCode::kUnavailable, "too many requests"}) : Result<void>();
  }

 private:
  size_t ranges_ = 0;
};

// Covers E5.
TEST_F(RetryingTest, OfManyRangesOnlyThoseThatWereRefusedAreAskedForAgain) {
  constexpr size_t kRanges = 64;
  std::vector<std::string> keys;
  for (size_t i = 0; i < kRanges; ++i) keys.push_back("key-" + std::to_string(i));
  for (const std::string& key : keys) ASSERT_THAT(PutBytes(memory_, key, AsBytes(key), PutMode::kCreate), IsOk());
  ThrottledStore throttled(memory_);
  RetryingStore store(throttled, clock_, random_);
  std::vector<Bytes> buffers(kRanges, Bytes(16));
  std::vector<ReadRequest> requests;
  for (size_t i = 0; i < kRanges; ++i) requests.push_back({.key = keys[i], .buffer = buffers[i]});
  ASSERT_THAT(store.Get(requests), IsOk());
  for (size_t i = 0; i < kRanges; ++i) {
    EXPECT_EQ(AsText(ByteView(buffers[i]).first(requests[i].received_bytes)), keys[i]);
  }
  // 64 + 32 + 16 + ... and no more than a few rounds of one.
  EXPECT_LT(throttled.ranges(), 3 * kRanges);
}

// Covers A5.
TEST_F(RetryingTest, AnUnknownOutcomeIsNeverTriedAgainUnseen) {
  FaultyStore faulty(memory_, {.fail_call = 1, .when = FaultWhen::kAfter, .code = ErrorCode::kUnknownOutcome});
  RetryingStore store(faulty, clock_, random_);
  EXPECT_THAT(PutBytes(store, "a", AsBytes("x"), PutMode::kCreate), IsError(ErrorCode::kUnknownOutcome));
  EXPECT_EQ(faulty.calls(), 1u);
}

TEST_F(RetryingTest, GivesUpInTheEnd) {
  FaultyStore faulty(memory_, {.fail_call = 1, .calls = Fault::kAllCalls});
  RetryingStore store(faulty, clock_, random_, {.attempts_max = 4});
  EXPECT_THAT(store.Stat("a"), IsError(ErrorCode::kUnavailable));
  EXPECT_EQ(faulty.calls(), 4u);
}

// Covers A7.
TEST_F(RetryingTest, WhatAPersonMustMendIsNotTriedAgain) {
  FaultyStore faulty(memory_, {.fail_call = 1, .calls = Fault::kAllCalls, .code = ErrorCode::kDenied});
  RetryingStore store(faulty, clock_, random_);
  EXPECT_THAT(PutBytes(store, "a", {}, PutMode::kCreate), IsError(ErrorCode::kDenied));
  EXPECT_THAT(PutText(faulty, "x"), IsError(ErrorCode::kDenied));
  EXPECT_EQ(faulty.calls(), 2u);
}

class Recorder final : public ReadObserver {
 public:
  void OnBytes(ByteView piece) override { seen += AsText(piece); }
  void OnRestart() override { seen += '|'; }
  std::string seen;
};

TEST_F(RetryingTest, ObserversAreToldThatAReadBeginsAgain) {
  ASSERT_THAT(PutBytes(memory_, "a", AsBytes("text"), PutMode::kCreate), IsOk());
  FaultyStore faulty(memory_, {.fail_call = 1, .when = FaultWhen::kAfter});
  RetryingStore store(faulty, clock_, random_);
  Bytes buffer(4);
  Recorder recorder;
  ReadRequest request{.key = "a", .buffer = buffer, .observer = &recorder};
  ASSERT_THAT(store.Get({&request, 1}), IsOk());
  EXPECT_EQ(recorder.seen, "text|text");
}

// Covers A1, A5.
TEST_F(RetryingTest, APutOfAUniqueKeySucceedsWhicheverCallFails) {
  ForEachFailure([&](const Fault& fault) {
    MemoryStore memory;
    FaultyStore store(memory, fault);
    EXPECT_THAT(PutText(store, "text"), IsOk());
    EXPECT_EQ(AsText(*memory.Read("key")), "text");
    return store.fired();
  });
}

TEST_F(RetryingTest, APutOfAUniqueKeyThatCannotBeResolvedSaysSo) {
  FaultyStore store(memory_, {.fail_call = 1, .calls = Fault::kAllCalls, .code = ErrorCode::kUnknownOutcome});
  EXPECT_THAT(PutText(store, "text"), IsError(ErrorCode::kUnknownOutcome));
  EXPECT_EQ(store.calls(), RetryPolicy().attempts_max);
}

TEST_F(RetryingTest, APutOfAUniqueKeyEndsAtItsDeadline) {
  FaultyStore store(memory_, {.fail_call = 1, .calls = Fault::kAllCalls});
  const TimePoint deadline = clock_.Now() + std::chrono::milliseconds(1);
  EXPECT_THAT(PutText(store, "text", deadline), IsError(ErrorCode::kUnavailable));
  EXPECT_LE(clock_.Now(), deadline);
}

// Covers A2.
TEST_F(RetryingTest, APutThatLandsLateChangesNothing) {
  FaultyStore store(memory_, {.fail_call = 1, .when = FaultWhen::kLater, .code = ErrorCode::kUnknownOutcome});
  EXPECT_THAT(PutText(store, "text"), IsOk());
  store.ApplyDelayed();
  EXPECT_EQ(AsText(*memory_.Read("key")), "text");
}

}  // namespace
}  // namespace batchweave
