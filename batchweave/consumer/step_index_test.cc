#include "batchweave/consumer/step_index.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <utility>

#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using Kind = LogQuestion::Kind;
using ::testing::HasSubstr;

Hash128 HashOf(uint64_t version) { return {.high = version, .low = 77}; }

std::vector<Entry> MakeEntries(uint64_t first, uint64_t end) {
  std::vector<Entry> entries;
  for (uint64_t step = first; step < end; ++step) entries.push_back({.producer = "tok-03", .seq = step + 1});
  return entries;
}

// Version `version`: steps [tail_first, next_step) in the tail.
Manifest MakeManifest(uint64_t version, uint64_t tail_first, uint64_t next_step) {
  Manifest manifest;
  manifest.version = {version};
  manifest.previous_hash = HashOf(version - 1);
  manifest.next_step = {next_step};
  manifest.tail = MakeEntries(tail_first, next_step);
  return manifest;
}

ManifestSteps Whole(Manifest manifest) {
  const Hash128 hash = HashOf(manifest.version.value);
  return StepsOf(std::move(manifest), hash);
}

ManifestHead Head(Manifest manifest) {
  const Hash128 hash = HashOf(manifest.version.value);
  return {.manifest = std::move(manifest), .rest_bytes = 0, .rest_hash = 0, .hash = hash};
}

ArchiveRef MakeRef(ArchiveRef::Kind kind, uint64_t first, uint64_t end, uint64_t nonce) {
  return {.kind = kind,
          .version = {1},
          .nonce = nonce,
          .first = {first},
          .end = {end},
          .level = static_cast<uint8_t>(kind == ArchiveRef::Kind::kIndex ? 1 : 0)};
}

// Answers the question that is open now.
Result<bool> Answer(StepIndex& index, Result<LogAnswer> answer) { return index.Learn(index.Ask(), std::move(answer)); }

std::vector<uint64_t> TakeAll(StepIndex& index) {
  std::vector<uint64_t> steps;
  while (const auto known = index.Take()) {
    EXPECT_EQ(known->entry->seq, known->step.value + 1);
    steps.push_back(known->step.value);
  }
  return steps;
}

StepIndex OpenAt(uint64_t wanted, Manifest manifest, size_t known_steps_max = 1024) {
  StepIndex index({wanted}, known_steps_max);
  EXPECT_EQ(index.Ask().kind, Kind::kNewest);
  EXPECT_THAT(Answer(index, Whole(std::move(manifest))), IsOkAndHolds(true));
  return index;
}

TEST(StepIndexTest, BeginsWithTheNewestVersionAndKnowsItsStepsFromTheWantedOneOn) {
  StepIndex index = OpenAt(7, MakeManifest(5, 0, 10));
  EXPECT_EQ(TakeAll(index), (std::vector<uint64_t>{7, 8, 9}));
  EXPECT_EQ(index.wanted(), Step{10});
}

TEST(StepIndexTest, TheFirstAnswerNeedTellOfFewStepsAndLaterOnesOfMany) {
  StepIndex index({7}, 1024);
  EXPECT_EQ(index.Ask().first, Step{7});
  EXPECT_EQ(index.Ask().count, 64u);
  ManifestSteps few = Whole(MakeManifest(5, 0, 2000));
  few.first = {7};
  few.entries = MakeEntries(7, 7 + 64);
  EXPECT_THAT(Answer(index, std::move(few)), IsOkAndHolds(true));
  EXPECT_EQ(TakeAll(index).size(), 64u);
  EXPECT_EQ(index.Ask().kind, Kind::kWhole);
  EXPECT_EQ(index.Ask().version, Version{5});
  EXPECT_EQ(index.Ask().first, Step{71});
  EXPECT_EQ(index.Ask().count, 1024u);
}

TEST(StepIndexTest, FollowsByTheHeadOfTheSuccessor) {
  StepIndex index = OpenAt(10, MakeManifest(5, 0, 10));
  EXPECT_EQ(index.Ask().kind, Kind::kHead);
  EXPECT_EQ(index.Ask().version, Version{6});
  EXPECT_THAT(Answer(index, Error{ErrorCode::kNotFound, ""}), IsOkAndHolds(false));
  EXPECT_EQ(index.Ask().version, Version{6});
  EXPECT_THAT(Answer(index, Head(MakeManifest(6, 8, 12))), IsOkAndHolds(true));
  EXPECT_EQ(index.Take()->version_hash, HashOf(6));
  EXPECT_EQ(TakeAll(index), (std::vector<uint64_t>{11}));
}

TEST(StepIndexTest, AHeadThatDoesNotReachBackIsReadWhole) {
  StepIndex index = OpenAt(10, MakeManifest(5, 0, 10));
  EXPECT_THAT(Answer(index, Head(MakeManifest(6, 500, 600))), IsOkAndHolds(true));
  EXPECT_EQ(index.Ask().kind, Kind::kWhole);
  EXPECT_EQ(index.Ask().version, Version{6});
  EXPECT_THAT(Answer(index, Whole(MakeManifest(6, 0, 600))), IsOkAndHolds(true));
  EXPECT_EQ(TakeAll(index).size(), 590u);
}

TEST(StepIndexTest, ATombstoneMeansTheNewestVersion) {
  StepIndex index = OpenAt(10, MakeManifest(5, 0, 10));
  EXPECT_THAT(Answer(index, Error{ErrorCode::kTrimmed, "a tombstone"}), IsOkAndHolds(true));
  EXPECT_EQ(index.Ask().kind, Kind::kNewest);
}

TEST(StepIndexTest, FarBehindItJumpsToTheNewestVersion) {
  StepIndex index = OpenAt(10, MakeManifest(5, 0, 10));
  uint64_t version = 6;
  for (; index.Ask().kind == Kind::kHead; ++version) {
    ASSERT_THAT(Answer(index, Head(MakeManifest(version, 0, version + 5))), IsOkAndHolds(true));
    TakeAll(index);
  }
  EXPECT_EQ(version, 14u);
  EXPECT_EQ(index.Ask().kind, Kind::kNewestVersion);
  EXPECT_THAT(Answer(index, Version{500}), IsOkAndHolds(true));
  EXPECT_EQ(index.Ask().kind, Kind::kWhole);
  EXPECT_EQ(index.Ask().version, Version{500});
  EXPECT_THAT(Answer(index, Whole(MakeManifest(500, 0, 505))), IsOkAndHolds(true));
  EXPECT_EQ(TakeAll(index).back(), 504u);
}

TEST(StepIndexTest, ALittleBehindItGoesOnByHeadsAndAsksLessOften) {
  StepIndex index = OpenAt(10, MakeManifest(5, 0, 10));
  std::vector<uint64_t> asked_at;
  for (uint64_t version = 6; version < 60;) {
    if (index.Ask().kind == Kind::kNewestVersion) {
      asked_at.push_back(version);
      ASSERT_THAT(Answer(index, Version{version + 2}), IsOkAndHolds(true));
      continue;
    }
    ASSERT_THAT(Answer(index, Head(MakeManifest(version, 0, version + 5))), IsOkAndHolds(true));
    TakeAll(index);
    ++version;
  }
  EXPECT_EQ(asked_at, (std::vector<uint64_t>{14, 30}));
}

// Covers G7.
RC_GTEST_PROP(StepIndexTest, KeepsFewEntriesOfALongBacklogAndStillGivesEveryStepOnce, ()) {
  const auto kept = *rc::gen::inRange<size_t>(1, 50);
  const auto steps = *rc::gen::inRange<uint64_t>(1, 400);
  const auto from = *rc::gen::inRange<uint64_t>(0, steps);
  StepIndex index({from}, kept);
  uint64_t taken = from;
  while (taken < steps) {
    RC_ASSERT(Answer(index, Whole(MakeManifest(5, 0, steps))).ok());
    const std::vector<uint64_t> some = TakeAll(index);
    RC_ASSERT(!some.empty() && some.size() <= kept && some.front() == taken);
    taken += some.size();
  }
  RC_ASSERT(index.Ask().kind == Kind::kHead);
}

TEST(StepIndexTest, EndsWhereTheSealedStreamEnds) {
  Manifest sealed = MakeManifest(6, 8, 10);
  sealed.sealed = true;
  StepIndex index = OpenAt(9, MakeManifest(5, 0, 10));
  TakeAll(index);
  EXPECT_FALSE(index.ended());
  EXPECT_THAT(Answer(index, Head(std::move(sealed))), IsOkAndHolds(true));
  EXPECT_TRUE(index.ended());
}

// Covers D7.
TEST(StepIndexTest, AStepBelowTheFirstIsTrimmed) {
  Manifest trimmed = MakeManifest(5, 8, 10);
  trimmed.first_step = {8};
  StepIndex index({7}, 1024);
  EXPECT_THAT(Answer(index, Whole(trimmed)),
              IsError(ErrorCode::kTrimmed, "step 7 is trimmed: the stream begins at step 8"));
  EXPECT_EQ(index.Ask().kind, Kind::kNewest);
}

// Covers I2.
TEST(StepIndexTest, AVersionThatIsNotChainedToTheOneBeforeIsCorrupt) {
  StepIndex index = OpenAt(10, MakeManifest(5, 0, 10));
  Manifest other = MakeManifest(6, 0, 11);
  other.previous_hash = HashOf(99);
  EXPECT_THAT(Answer(index, Head(std::move(other))), IsError(ErrorCode::kCorrupt, HasSubstr("chain")));
  EXPECT_FALSE(index.Take());
}

TEST(StepIndexTest, AnOlderVersionThanOneSeenBeforeIsRefused) {
  StepIndex index = OpenAt(10, MakeManifest(5, 0, 10));
  ASSERT_THAT(Answer(index, Error{ErrorCode::kTrimmed, "a tombstone"}), IsOk());
  EXPECT_THAT(Answer(index, Whole(MakeManifest(4, 0, 9))), IsError(ErrorCode::kCorrupt, HasSubstr("older")));
}

TEST(StepIndexTest, ADeletedStreamIsNotFound) {
  StepIndex index = OpenAt(10, MakeManifest(5, 0, 10));
  Manifest deleted = MakeManifest(6, 0, 10);
  deleted.deleted = true;
  EXPECT_THAT(Answer(index, Head(std::move(deleted))), IsError(ErrorCode::kNotFound, HasSubstr("deleted")));
}

class ArchivedStepIndexTest : public ::testing::Test {
 protected:
  // Steps 0..99 archived below one index of two, 100..109 in the tail.
  ArchivedStepIndexTest() : manifest(MakeManifest(9, 100, 110)) { manifest.archives = {index_ref}; }

  const ArchiveRef index_ref = MakeRef(ArchiveRef::Kind::kIndex, 0, 100, 1);
  const ArchiveRef first = MakeRef(ArchiveRef::Kind::kEntries, 0, 50, 2);
  const ArchiveRef second = MakeRef(ArchiveRef::Kind::kEntries, 50, 100, 3);
  Manifest manifest;
};

TEST_F(ArchivedStepIndexTest, WalksFromTheManifestThroughTheArchiveBackToTheManifest) {
  StepIndex index = OpenAt(48, manifest);
  EXPECT_EQ(index.Ask().archive, index_ref);
  EXPECT_THAT(Answer(index, ArchivedSteps{.first = {0}, .entries = {}, .children = {first, second}}), IsOk());
  EXPECT_EQ(index.Ask().archive, first);
  EXPECT_THAT(Answer(index, ArchivedSteps{.first = {0}, .entries = MakeEntries(0, 50), .children = {}}), IsOk());
  EXPECT_EQ(TakeAll(index), (std::vector<uint64_t>{48, 49}));
  EXPECT_EQ(index.Ask().archive, second) << "the index was read already";
  EXPECT_THAT(Answer(index, ArchivedSteps{.first = {50}, .entries = MakeEntries(50, 100), .children = {}}), IsOk());
  EXPECT_EQ(TakeAll(index).size(), 50u);
  EXPECT_EQ(index.Ask().kind, Kind::kWhole);
  EXPECT_THAT(Answer(index, Whole(manifest)), IsOk());
  EXPECT_EQ(TakeAll(index).back(), 109u);
}

TEST_F(ArchivedStepIndexTest, AnObjectThatIsGoneIsLookedUpInTheNewestVersionBeforeItIsCorrupt) {
  StepIndex index = OpenAt(48, manifest);
  const Error gone{ErrorCode::kNotFound, "key=archive/1"};
  EXPECT_THAT(Answer(index, gone), IsOkAndHolds(true));
  EXPECT_EQ(index.Ask().kind, Kind::kNewest);
  EXPECT_THAT(Answer(index, Whole(manifest)), IsOk());
  EXPECT_THAT(Answer(index, gone), IsError(ErrorCode::kCorrupt, HasSubstr("key=archive/1")));
}

TEST_F(ArchivedStepIndexTest, AnObjectThatIsGoneBecauseItsStepsAreTrimmedIsTrimmed) {
  StepIndex index = OpenAt(48, manifest);
  ASSERT_THAT(Answer(index, Error{ErrorCode::kNotFound, ""}), IsOkAndHolds(true));
  Manifest trimmed = MakeManifest(10, 100, 110);
  trimmed.first_step = {100};
  EXPECT_THAT(Answer(index, Whole(trimmed)), IsError(ErrorCode::kTrimmed));
}

TEST_F(ArchivedStepIndexTest, AnIndexThatNamesItsOwnLevelIsCorruptAndNotWalkedForEver) {
  StepIndex index = OpenAt(48, manifest);
  EXPECT_THAT(Answer(index, ArchivedSteps{.first = {0}, .entries = {}, .children = {index_ref}}),
              IsError(ErrorCode::kCorrupt));
}

}  // namespace
}  // namespace batchweave
