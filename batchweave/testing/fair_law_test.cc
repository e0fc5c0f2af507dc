#include "batchweave/testing/fair_law.h"

#include <gtest/gtest.h>

namespace batchweave {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart = TimePoint(std::chrono::hours(1));

// A law that has measured an attempt of `attempt_time` that it won, and has seen `others`.
FairLaw LawAmong(size_t others, Duration attempt_time, bool won = true, double unit = 0.5) {
  FairLaw law({.load = 0.5});
  law.OnVersionSeen(kStart - attempt_time, {.others = others, .versions = 1});
  law.OnAttempt({.began = kStart - attempt_time, .ended = kStart, .won = won}, unit);
  return law;
}

TEST(FairLawTest, LoneProducerNeverWaits) {
  const FairLaw law = LawAmong(0, seconds(1));
  const FairLaw::Decision decision = law.Decide(kStart, {});
  EXPECT_EQ(decision.action, FairLaw::Action::kTry);
  EXPECT_EQ(decision.at, kStart);
}

TEST(FairLawTest, FirstAttemptIsMadeAtOnce) {
  const FairLaw law;
  EXPECT_EQ(law.Decide(kStart, {}).at, kStart);
}

TEST(FairLawTest, IntervalGrowsWithContendersAndWithTheLengthOfAnAttempt) {
  // N * T / load, at the middle of its jitter: (9 + 1) * 10 ms / 0.5.
  FairLaw law = LawAmong(9, milliseconds(10));
  EXPECT_EQ(law.Decide(kStart + milliseconds(200), {}).action, FairLaw::Action::kTry);
  EXPECT_EQ(law.Decide(kStart + milliseconds(199), {}).action, FairLaw::Action::kLook);
}

TEST(FairLawTest, JitterSpreadsFromHalfToOneAndAHalf) {
  const auto first_try = [](double unit) {
    const FairLaw law = LawAmong(9, milliseconds(10), true, unit);
    TimePoint at = kStart;
    while (law.Decide(at, {}).at > at || law.Decide(at, {}).action == FairLaw::Action::kLook) at += milliseconds(1);
    return at - kStart;
  };
  EXPECT_EQ(first_try(0.0), milliseconds(100));
  EXPECT_EQ(first_try(1.0), milliseconds(300));
}

TEST(FairLawTest, LoserTriesAgainSoonerThanAWinner) {
  // max(2T, interval / 4) = max(20 ms, 50 ms).
  const FairLaw law = LawAmong(9, milliseconds(10), false);
  EXPECT_EQ(law.Decide(kStart + milliseconds(50), {}).action, FairLaw::Action::kTry);
  EXPECT_EQ(law.Decide(kStart + milliseconds(50), {}).at, kStart + milliseconds(50));
}

TEST(FairLawTest, LooksWhetherTheLogIsQuietAndThenTriesAtOnce) {
  FairLaw law = LawAmong(9, milliseconds(10));
  FairLaw::Decision decision = law.Decide(kStart, {});
  EXPECT_EQ(decision.action, FairLaw::Action::kLook);
  EXPECT_EQ(decision.at, kStart + milliseconds(30));  // 3T.
  law.OnVersionSeen(decision.at, {.others = 9});
  EXPECT_EQ(law.Decide(decision.at, {}).action, FairLaw::Action::kTry);
  EXPECT_EQ(law.Decide(decision.at, {}).at, decision.at);
}

TEST(FairLawTest, EachLookThatFindsTheLogBusyMakesTheNextOneRarer) {
  FairLaw law = LawAmong(99, milliseconds(10));
  Duration gap{0};
  for (int look = 0; look < 4; ++look) {
    const FairLaw::Decision decision = law.Decide(kStart, {});
    ASSERT_EQ(decision.action, FairLaw::Action::kLook);
    EXPECT_GT(decision.at - kStart, gap * 2);
    gap = decision.at - kStart;
    law.OnVersionSeen(decision.at, {.others = 99, .versions = 1});
  }
}

TEST(FairLawTest, FollowsAnAttemptThatBecomesSlower) {
  FairLaw law = LawAmong(9, milliseconds(10));
  for (int attempt = 0; attempt < 30; ++attempt)
    law.OnAttempt({.began = kStart - milliseconds(40), .ended = kStart, .won = true}, 0.5);
  law.OnVersionSeen(kStart, {.others = 9, .versions = 1});
  // (9 + 1) * 40 ms / 0.5 = 800 ms, nearly.
  EXPECT_EQ(law.Decide(kStart + milliseconds(700), {}).action, FairLaw::Action::kLook);
  EXPECT_EQ(law.Decide(kStart + milliseconds(801), {}).action, FairLaw::Action::kTry);
}

}  // namespace
}  // namespace batchweave
