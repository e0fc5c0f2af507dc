#include "batchweave/producer/combining_law.h"

#include <gtest/gtest.h>

namespace batchweave {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Action = CommitLaw::Action;

constexpr TimePoint kStart = TimePoint(std::chrono::hours(1));
constexpr Duration kAttempt = milliseconds(100);
constexpr CommitLaw::Pending kNew{.unannounced = true};
constexpr CommitLaw::Pending kAnnounced{.announced = true};

// A law that has measured an attempt, and has seen versions of `crowd` producers of others come, one an attempt.
CombiningLaw LawAmong(double crowd, bool won = true, size_t taken = 0) {
  CombiningLaw law;
  const size_t others = crowd > 0 ? 1 : 0;
  law.OnVersionSeen(kStart - kAttempt * 2, {.others = others});
  law.OnVersionSeen(kStart - kAttempt, {.others = others, .versions = 1, .crowd = crowd});
  law.OnAttempt({.began = kStart - kAttempt, .ended = kStart, .won = won, .taken = taken}, 0.5);
  return law;
}

TEST(CombiningLawTest, AloneItTriesAtOnceAndReadsNoAnnouncements) {
  EXPECT_EQ(CombiningLaw().Decide(kStart, kNew).action, Action::kTry);
  EXPECT_EQ(LawAmong(0).Decide(kStart, kNew).action, Action::kTry);
  EXPECT_EQ(LawAmong(0).Decide(kStart, kNew).at, kStart);
}

TEST(CombiningLawTest, AmongFewItTriesAtOnceForAll) {
  EXPECT_EQ(LawAmong(2).Decide(kStart, kNew).action, Action::kTryForAll);
  EXPECT_EQ(LawAmong(2).Decide(kStart, kNew).at, kStart);
}

TEST(CombiningLawTest, TheFirstVersionSeenTellsWhetherThereAreMany) {
  for (const auto& [crowd, action] : {std::pair(2.0, Action::kTryForAll), std::pair(3.0, Action::kAnnounce)}) {
    CombiningLaw law;
    law.OnVersionSeen(kStart, {.others = 5, .crowd = crowd});
    EXPECT_EQ(law.Decide(kStart, kNew).action, action) << crowd;
  }
}

TEST(CombiningLawTest, AmongManyOrAfterALossItAnnounces) {
  EXPECT_EQ(LawAmong(3).Decide(kStart, kNew).action, Action::kAnnounce);
  EXPECT_EQ(LawAmong(0, /*won=*/false).Decide(kStart, kNew).action, Action::kAnnounce);
}

TEST(CombiningLawTest, WhatIsAnnouncedIsAskedForAtItsTurn) {
  CombiningLaw law = LawAmong(10);
  law.OnAnnounced(kStart, kStart, 0.5);
  EXPECT_EQ(law.Decide(kStart, kAnnounced).action, Action::kAsk);
  EXPECT_EQ(law.Decide(kStart, kAnnounced).at, kStart + kAttempt * 5 / 2);
}

TEST(CombiningLawTest, EachTurnThatPassesDoublesTheChanceToTry) {
  // One attempt a gap: 0.8 of 10 in the first turn, twice that in the second.
  for (const auto& [unit, turns] :
       {std::pair(0.079, 1), std::pair(0.081, 2), std::pair(0.159, 2), std::pair(0.161, 3)}) {
    CombiningLaw law = LawAmong(10);
    law.OnAnnounced(kStart, kStart, 0.5);
    int passed = 0;
    while (law.Decide(kStart, kAnnounced).action == Action::kAsk) {
      law.OnPassed(kStart, unit);
      passed += 1;
    }
    EXPECT_EQ(law.Decide(kStart, kAnnounced).action, Action::kTryForAll);
    EXPECT_EQ(passed, turns) << unit;
  }
}

TEST(CombiningLawTest, WhoTookForOthersServesOnUntilItFoundNothingForAWhile) {
  CombiningLaw law = LawAmong(10, true, /*taken=*/4);
  EXPECT_TRUE(law.serves());
  EXPECT_EQ(law.Decide(kStart, {}).action, Action::kTryForAll);
  EXPECT_EQ(law.Decide(kStart, {}).at, kStart);
  int looks = 0;
  while (law.serves()) {
    law.OnNothing(kStart);
    looks += 1;
    ASSERT_LT(looks, 10);
    if (law.serves()) {
      EXPECT_EQ(law.Decide(kStart, {}).at, kStart + kAttempt / 2);
    }
  }
  EXPECT_EQ(looks, 4);
}

TEST(CombiningLawTest, WhoLosesServesNoMore) {
  CombiningLaw law = LawAmong(10, true, 4);
  law.OnAttempt({.began = kStart, .ended = kStart + kAttempt, .won = false}, 0.5);
  EXPECT_FALSE(law.serves());
  EXPECT_EQ(law.Decide(kStart + kAttempt, kNew).action, Action::kAnnounce);
}

TEST(CombiningLawTest, ACrowdThatWasNotReckonedWithIsLeftToOneOfThem) {
  CombiningLaw law = LawAmong(2);
  EXPECT_TRUE(law.GoesOn(kStart, 4, 0.99));
  EXPECT_TRUE(law.GoesOn(kStart, 1000, 0.0019));
  CombiningLaw another = LawAmong(2);
  EXPECT_FALSE(another.GoesOn(kStart, 1000, 0.0021));
  EXPECT_EQ(another.Decide(kStart, kNew).action, Action::kAnnounce);
  CombiningLaw server = LawAmong(2, true, 4);
  EXPECT_TRUE(server.GoesOn(kStart, 1000, 0.99));
}

TEST(CombiningLawTest, WhatIsUploadedMeanwhileIsAnnouncedTooButNotAtOnce) {
  CombiningLaw law = LawAmong(10);
  law.OnAnnounced(kStart, kStart, 0.5);
  const CommitLaw::Decision decision = law.Decide(kStart, {.announced = true, .unannounced = true});
  EXPECT_EQ(decision.action, Action::kAnnounce);
  EXPECT_EQ(decision.at, kStart + kAttempt / 2);
}

TEST(CombiningLawTest, WhatIsDueIsTriedForWithoutALot) {
  CombiningLaw law = LawAmong(1000);
  law.OnAnnounced(kStart, kStart, 0.5);
  const CommitLaw::Pending due{.announced = true, .due_at = kStart + milliseconds(150)};
  EXPECT_EQ(law.Decide(kStart, due).action, Action::kTryForAll);
  EXPECT_EQ(law.Decide(kStart, due).at, kStart + milliseconds(50));  // An attempt earlier.
  // After a loss not before its turn: all that are due would lose together.
  law.OnAttempt({.began = kStart, .ended = kStart + kAttempt, .won = false}, 0.5);
  EXPECT_EQ(law.Decide(kStart + kAttempt, due).at, kStart + kAttempt + kAttempt * 5 / 2);
}

TEST(CombiningLawTest, ALogThatStoodStillForHoursMakesNoTurnLong) {
  CombiningLaw law = LawAmong(3);
  law.OnVersionSeen(kStart + std::chrono::hours(5), {.others = 1, .versions = 1, .crowd = 3});
  law.OnAnnounced(kStart, kStart, 0.5);
  EXPECT_LT(law.Decide(kStart, kAnnounced).at, kStart + seconds(1));
}

}  // namespace
}  // namespace batchweave
