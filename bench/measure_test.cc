#include "bench/measure.h"

#include <gtest/gtest.h>

#include "batchweave/testing/manual_clock.h"
#include "batchweave/testing/matchers.h"

namespace batchweave::bench {
namespace {

using std::chrono::milliseconds;

TEST(MeasureTest, MedianIsTheMiddleOrTheMeanOfBoth) {
  EXPECT_EQ(Median({3, 1, 100}), 3);
  EXPECT_EQ(Median({4, 1, 100, 2}), 3);
}

TEST(MeasureTest, TheRatioIsTheMedianOfTheRounds) {
  ManualClock clock;
  int round = 0;
  // The third call of the candidate meets a machine that is busy.
  const Side candidate = [&]() -> Result<Duration> { return ++round == 3 ? milliseconds(500) : milliseconds(20); };
  const Side floor = [&]() -> Result<Duration> { return milliseconds(10); };
  const Result<Comparison> compared =
      Compare(clock, {.rounds_max = 5, .time_max = kForever - TimePoint{}}, candidate, floor);
  ASSERT_THAT(compared, IsOk());
  EXPECT_EQ(compared->rounds, 5u);
  EXPECT_NEAR(compared->ratio, 0.5, 1e-9);
  EXPECT_EQ(compared->candidate, milliseconds(20));
}

TEST(MeasureTest, AFewRoundsAreMadeHoweverLittleTimeThereIs) {
  ManualClock clock;
  const Side side = [&]() -> Result<Duration> { return milliseconds(10); };
  const Result<Comparison> compared = Compare(clock, {.rounds_max = 100, .time_max = {}}, side, side);
  ASSERT_THAT(compared, IsOk());
  EXPECT_EQ(compared->rounds, kRoundsMin);
}

TEST(MeasureTest, TheErrorOfASideEndsIt) {
  ManualClock clock;
  const Side good = [&]() -> Result<Duration> { return milliseconds(10); };
  const Side bad = [&]() -> Result<Duration> { return Error{ErrorCode::kDenied, "no room"}; };
  EXPECT_THAT(Compare(clock, {.rounds_max = 1, .time_max = {}}, good, bad), IsError(ErrorCode::kDenied));
}

}  // namespace
}  // namespace batchweave::bench
