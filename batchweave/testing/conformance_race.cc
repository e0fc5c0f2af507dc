// What must hold when many call at once.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>

#include "batchweave/testing/conformance.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::StartsWith;

TEST_P(ObjectStoreConformance, OfThirtyTwoRacingCreatorsOneWins) {
  for (int round = 0; round < 5; ++round) {
    const std::string key = fmt::format("fresh/{}/key", round);
    std::atomic<int> winners = 0;
    std::atomic<int> winner = -1;
    RunTogether(32, [&](int i) {
      const Result<void> created = Create(key, std::string(static_cast<size_t>(1000 + i), 'x'));
      if (!created.ok()) {
        EXPECT_THAT(created, IsError(ErrorCode::kAlreadyExists));
        return;
      }
      ++winners;
      winner = i;
    });
    EXPECT_EQ(winners, 1);
    EXPECT_THAT(store().Stat(key), IsOkAndHolds(static_cast<uint64_t>(1000 + winner)));
  }
}

TEST_P(ObjectStoreConformance, AnOverwriteIsNeverSeenAsAbsenceOrInPart) {
  ASSERT_THAT(Create("a/key", std::string(20'000, '0')), IsOk());
  std::atomic<bool> done = false;
  RunTogether(2, [&](int i) {
    if (i == 0) {
      for (size_t round = 0; round < 60; ++round) {
        EXPECT_THAT(Overwrite("a/key", std::string(20'000 + round, static_cast<char>('0' + round % 10))), IsOk());
      }
      done = true;
      return;
    }
    while (!done) {
      const Result<std::string> text = Read("a/key");
      ASSERT_THAT(text, IsOk());
      EXPECT_TRUE(std::ranges::all_of(*text, [&](char c) { return c == text->front(); }));
      ASSERT_GE(text->size(), 20'000u);
      EXPECT_EQ((text->size() - 20'000) % 10, static_cast<size_t>(text->front() - '0'));
      // A gateway to a file system may show a name of its own beside it meanwhile.
      EXPECT_THAT(Keys("a/", 10), IsOkAndHolds(AllOf(Contains("a/key"), Each(AnyOf("a/key", StartsWith("a/."))))));
      EXPECT_THAT(Create("a/key", "x"), IsError(ErrorCode::kAlreadyExists));
    }
  });
  EXPECT_THAT(Keys("a/", 10), IsOkAndHolds(::testing::ElementsAre("a/key")));
}

// `put` of a key that is nobody else's, which is sent again while its outcome is unknown: a gateway whose folder another
// request removed at that moment may answer so.
template <typename Put>
Result<void> Decided(Put put) {
  constexpr int kTriesMax = 20;
  Result<void> result = put();
  for (int i = 1; i < kTriesMax && FailedWith(result, ErrorCode::kUnknownOutcome); ++i) {
    result = put();
    if (FailedWith(result, ErrorCode::kAlreadyExists)) return {};
  }
  return result;
}

TEST_P(ObjectStoreConformance, DeletesTakeNothingFromCreatorsNextToThem) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 50;
  RunTogether(kThreads, [&](int i) {
    for (int round = 0; round < kRounds; ++round) {
      // The folder is empty between the rounds, so that a store may remove it while others create in it.
      const std::vector<std::string> keys = {fmt::format("a/b/{}-{}", i, round)};
      EXPECT_THAT(Decided([&] { return Create(keys[0], keys[0]); }), IsOk());
      EXPECT_THAT(Read(keys[0]), IsOkAndHolds(keys[0]));
      EXPECT_THAT(Decided([&] { return Overwrite(keys[0], "new"); }), IsOk());
      EXPECT_THAT(Read(keys[0]), IsOkAndHolds("new"));
      EXPECT_THAT(store().Delete(keys), IsOk());
      EXPECT_THAT(Read(keys[0]), IsError(ErrorCode::kNotFound));
    }
  });
  EXPECT_THAT(Keys("", 10), IsOkAndHolds(::testing::IsEmpty()));
}

TEST_P(ObjectStoreConformance, WhatWasAcknowledgedIsListedAtOnce) {
  RunTogether(4, [&](int i) {
    for (int round = 0; round < 20; ++round) {
      const std::string key = fmt::format("a/{}/{}", i, round);
      ASSERT_THAT(Create(key, "x"), IsOk());
      EXPECT_THAT(Keys("a/", 7), IsOkAndHolds(::testing::Contains(key)));
    }
  });
}

}  // namespace
}  // namespace batchweave
