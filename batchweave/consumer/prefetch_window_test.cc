#include "batchweave/consumer/prefetch_window.h"

#include <optional>
#include <utility>

#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using State = PrefetchWindow::State;
using std::chrono::milliseconds;

constexpr TimePoint kNow{std::chrono::hours(1)};
const Error kAway{ErrorCode::kUnavailable, "away"};

KnownStep MakeStep(uint64_t step) {
  // Shared: as KnownStep asks.
  return {.step = {step}, .entry = std::make_shared<const Entry>(), .version_hash = {}};
}

RankBatch MakeBatch(uint64_t step) { return RankBatch({step}, MakeStep(step).entry, {}, {}); }

std::optional<uint64_t> TakeFetch(PrefetchWindow& window, TimePoint now = kNow) {
  const std::optional<KnownStep> known = window.TakeFetch(now);
  return known ? std::optional(known->step.value) : std::nullopt;
}

TEST(PrefetchWindowTest, GivesOutStepsInOrderOnce) {
  PrefetchWindow window({10}, {.steps_max = 3, .bytes_max = 100});
  for (uint64_t step = 10; step < 13; ++step) window.Admit(MakeStep(step), 1, kNow);
  EXPECT_FALSE(window.HasRoom());
  EXPECT_EQ(TakeFetch(window), 10u);
  EXPECT_EQ(TakeFetch(window), 11u);
  EXPECT_EQ(TakeFetch(window), 12u);
  EXPECT_EQ(TakeFetch(window), std::nullopt);
}

TEST(PrefetchWindowTest, HandsOutInOrderThoughFetchedOutOfOrder) {
  PrefetchWindow window({0}, {.steps_max = 2, .bytes_max = 100});
  window.Admit(MakeStep(0), 1, kNow);
  window.Admit(MakeStep(1), 1, kNow);
  TakeFetch(window);
  TakeFetch(window);
  window.Complete({1}, MakeBatch(1), kNow, 0);
  EXPECT_EQ(window.head()->state, State::kFetching);
  window.Complete({0}, MakeBatch(0), kNow, 0);
  EXPECT_EQ(window.TakeHead().batch->step(), Step{0});
  EXPECT_EQ(window.TakeHead().batch->step(), Step{1});
  EXPECT_EQ(window.position(), Step{2});
}

// Covers G7.
TEST(PrefetchWindowTest, FetchesNoMoreThanItsBudgetOfBytesAhead) {
  PrefetchWindow window({0}, {.steps_max = 4, .bytes_max = 100});
  for (uint64_t step = 0; step < 4; ++step) window.Admit(MakeStep(step), step == 2 ? 10 : 60, kNow);
  EXPECT_EQ(TakeFetch(window), 0u);
  EXPECT_EQ(TakeFetch(window), std::nullopt) << "step 1 does not fit, and step 2 may not overtake it";
}

TEST(PrefetchWindowTest, AStepLargerThanTheBudgetPassesAlone) {
  PrefetchWindow window({0}, {.steps_max = 2, .bytes_max = 100});
  window.Admit(MakeStep(0), 1000, kNow);
  window.Admit(MakeStep(1), 1000, kNow);
  EXPECT_EQ(TakeFetch(window), 0u);
  EXPECT_EQ(TakeFetch(window), std::nullopt);
  window.Complete({0}, MakeBatch(0), kNow, 0);
  window.TakeHead();
  EXPECT_EQ(TakeFetch(window), 1u);
}

// Covers I12.
TEST(PrefetchWindowTest, AStoreThatIsAwayIsTriedAgainLaterAndNotForEver) {
  PrefetchWindow window({0}, {.steps_max = 1, .bytes_max = 100});
  window.Admit(MakeStep(0), 1, kNow);
  TimePoint now = kNow;
  int tries = 0;
  for (; window.head()->state != State::kFailed; ++tries) {
    ASSERT_LT(tries, 100);
    ASSERT_EQ(TakeFetch(window, now), 0u);
    window.Complete({0}, kAway, now, 0.5);
    EXPECT_EQ(TakeFetch(window, now), std::nullopt);
    if (window.head()->state == State::kWaiting) now = window.NextRetry(now);
  }
  EXPECT_GT(now - kNow, milliseconds(3000));
  EXPECT_EQ(window.head()->last_error->message, "away");
  window.RetryHead();
  EXPECT_EQ(TakeFetch(window, now), 0u);
}

TEST(PrefetchWindowTest, WhatNoRetryHelpsFailsAtOnce) {
  PrefetchWindow window({0}, {.steps_max = 1, .bytes_max = 100});
  window.Admit(MakeStep(0), 1, kNow);
  TakeFetch(window);
  window.Complete({0}, Error{ErrorCode::kMeshMismatch, "3 and 4"}, kNow, 0);
  EXPECT_EQ(window.head()->state, State::kFailed);
  EXPECT_EQ(window.retries(), 0u);
}

TEST(PrefetchWindowTest, AFailedStepDoesNotKeepLaterOnesFromBeingFetchedNorFromWaitingForIt) {
  PrefetchWindow window({0}, {.steps_max = 2, .bytes_max = 100});
  window.Admit(MakeStep(0), 80, kNow);
  window.Admit(MakeStep(1), 80, kNow);
  TakeFetch(window);
  window.Complete({0}, Error{ErrorCode::kCorrupt, "bits"}, kNow, 0);
  EXPECT_EQ(TakeFetch(window), std::nullopt) << "its room is kept while it waits to be tried again";
  EXPECT_EQ(TakeFetch(window, window.NextRetry(kNow)), 0u);
}

TEST(RetryDelayTest, GrowsToALimit) {
  EXPECT_LE(RetryDelay(1, 0.999), milliseconds(25));
  EXPECT_GT(RetryDelay(3, 0.5), RetryDelay(1, 0.999));
  EXPECT_EQ(RetryDelay(1000, 0.5), RetryDelay(8, 0.5));
}

}  // namespace
}  // namespace batchweave
