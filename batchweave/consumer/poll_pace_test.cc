#include "batchweave/consumer/poll_pace.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace batchweave {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr PollPace::Limits kLimits{.min = milliseconds(5), .max = seconds(2)};
constexpr double kMiddle = 0.5;  // No jitter.
constexpr TimePoint kStart{std::chrono::hours(1)};

TEST(PollPaceTest, BeginsWithTheShortestInterval) {
  PollPace pace(kLimits);
  EXPECT_EQ(pace.AfterNothing(kStart, kMiddle), kLimits.min);
}

TEST(PollPaceTest, PollsAtAFractionOfTheUsualWait) {
  PollPace pace(kLimits);
  TimePoint now = kStart;
  for (int version = 0; version < 5; ++version) {
    pace.AfterNothing(now, kMiddle);
    now += seconds(8);
    pace.OnVersion(now);
  }
  EXPECT_EQ(pace.AfterNothing(now, kMiddle), seconds(1));
}

TEST(PollPaceTest, AStreamAtRestIsAskedEverMoreRarely) {
  PollPace pace(kLimits);
  int polls = 0;
  for (TimePoint now = kStart; now < kStart + seconds(60); ++polls) now += pace.AfterNothing(now, kMiddle);
  EXPECT_LT(polls, 100);
  EXPECT_EQ(pace.AfterNothing(kStart + seconds(60), kMiddle), kLimits.max);
}

TEST(PollPaceTest, AVersionThatWasNotWaitedForTellsNothing) {
  PollPace pace(kLimits);
  for (int version = 0; version < 5; ++version) pace.OnVersion(kStart + version * seconds(100));
  EXPECT_EQ(pace.AfterNothing(kStart + seconds(500), kMiddle), kLimits.min);
}

TEST(PollPaceTest, FollowsAFasterProducerWithinAFewVersions) {
  PollPace pace(kLimits);
  TimePoint now = kStart;
  const auto wait_for_version = [&](Duration wait) {
    pace.AfterNothing(now, kMiddle);
    now += wait;
    pace.OnVersion(now);
  };
  for (int version = 0; version < 5; ++version) wait_for_version(seconds(8));
  for (int version = 0; version < 12; ++version) wait_for_version(milliseconds(80));
  EXPECT_LT(pace.AfterNothing(now, kMiddle), milliseconds(100));
}

RC_GTEST_PROP(PollPaceTest, StaysWithinItsLimits, (const std::vector<uint32_t>& waits_ms)) {
  PollPace pace(kLimits);
  TimePoint now = kStart;
  for (const uint32_t wait_ms : waits_ms) {
    const double unit = static_cast<double>(wait_ms % 1000) / 1000;
    const Duration delay = pace.AfterNothing(now, unit);
    RC_ASSERT(delay >= kLimits.min && delay <= kLimits.max);
    now += milliseconds(wait_ms);
    if (wait_ms % 3 == 0) pace.OnVersion(now);
  }
}

}  // namespace
}  // namespace batchweave
