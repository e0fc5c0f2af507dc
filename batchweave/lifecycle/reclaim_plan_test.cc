#include "batchweave/lifecycle/reclaim_plan.h"

#include <gtest/gtest.h>

#include "batchweave/log/dead_keys.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/live_stream.h"

namespace batchweave {
namespace {

constexpr uint64_t kNonce = 77;

class ReclaimPlanTest : public ::testing::Test {
 protected:
  // Version 20: the producer "tok" has incarnation 10 and has committed 3 batches, of which none is reached.
  ReclaimPlanTest() {
    newest_.stream_id = keys_.stream_id;
    newest_.version = {20};
    newest_.next_step = newest_.first_step = {3};
    newest_.groups = {{.name = "train", .start = {3}, .smallest_held = {3}}};
    newest_.rows = {{.producer = "tok", .incarnation = {10}, .seq = 3, .step = Step{2}, .cursor = Bytes()}};
  }

  Fate Judge(std::string_view key) const { return ReclaimJudge(keys_, newest_, newest_.rows, {}).Judge(key); }
  Fate Data(uint64_t incarnation, uint64_t seq) const { return Judge(keys_.Data("tok", {incarnation}, seq, kNonce)); }
  Fate Opening(uint64_t base) const { return Judge(keys_.Opening("tok", {base}, kNonce)); }
  Fate Archive(uint64_t version) const { return Judge(keys_.Archive({.version = {version}, .nonce = kNonce})); }

  const StreamKeys keys_{.name = "run", .stream_id = {.bits = {.high = 1, .low = 2}}};
  Manifest newest_;
};

// Covers D1, D2.
TEST_F(ReclaimPlanTest, WhatMayStillBeCommittedIsAliveHoweverSlowItsCommitter) {
  EXPECT_EQ(Data(10, 4), Fate::kAlive);
  EXPECT_EQ(Data(10, 9), Fate::kAlive) << "uploaded before those in front of it";
  EXPECT_EQ(Judge(keys_.Intent("tok", {10}, 4, kNonce)), Fate::kAlive);
}

TEST_F(ReclaimPlanTest, WhatIsCoveredAndNotReachedIsDead) {
  EXPECT_EQ(Data(10, 3), Fate::kDead);
  EXPECT_EQ(Judge(keys_.Intent("tok", {10}, 3, kNonce)), Fate::kDead);
}

TEST_F(ReclaimPlanTest, UploadsOfAFencedIncarnationOrOfNoProducerAreDead) {
  EXPECT_EQ(Data(9, 4), Fate::kDead);
  EXPECT_EQ(Judge(keys_.Data("nobody", {5}, 1, kNonce)), Fate::kDead);
  newest_.rows[0].state = ProducerRow::State::kGone;
  EXPECT_EQ(Data(10, 4), Fate::kDead);
}

// Covers M17.
TEST_F(ReclaimPlanTest, WhatWasOpenedAfterTheVersionThatIsAskedIsAlive) {
  EXPECT_EQ(Data(20, 4), Fate::kDead);
  EXPECT_EQ(Data(21, 4), Fate::kAlive);
  EXPECT_EQ(Judge(keys_.Data("newcomer", {21}, 1, kNonce)), Fate::kAlive);
  newest_.sealed = true;
  EXPECT_EQ(Data(21, 4), Fate::kAlive) << "no such incarnation can be, but the rule is one";
}

TEST_F(ReclaimPlanTest, AFinishedProducerOrASealedStreamTakesNoMore) {
  newest_.rows[0].state = ProducerRow::State::kFinished;
  EXPECT_EQ(Data(10, 4), Fate::kDead);
  newest_.rows[0].state = ProducerRow::State::kOpen;
  newest_.sealed = true;
  EXPECT_EQ(Data(10, 4), Fate::kDead);
}

TEST_F(ReclaimPlanTest, AnOpeningIsDeadOnceAnotherCameOrTooLongAgo) {
  EXPECT_EQ(Opening(9), Fate::kDead);
  EXPECT_EQ(Opening(10), Fate::kAlive);
  EXPECT_EQ(Judge(keys_.Opening("newcomer", {1}, kNonce)), Fate::kAlive);
  newest_.version = {10 + kOpeningVersionsMax};
  EXPECT_EQ(Opening(10), Fate::kAlive);
  newest_.version = {11 + kOpeningVersionsMax};
  EXPECT_EQ(Opening(10), Fate::kDead);
}

TEST_F(ReclaimPlanTest, AnArchivedObjectIsDeadOnceItsVersionIsDecided) {
  EXPECT_EQ(Archive(20), Fate::kDead);
  EXPECT_EQ(Archive(21), Fate::kAlive);
}

TEST_F(ReclaimPlanTest, HintsOfGroupsVersionsAndPlaceholdersAreAlive) {
  EXPECT_EQ(Judge(keys_.Progress("train")), Fate::kAlive);
  EXPECT_EQ(Judge(keys_.Progress("dropped")), Fate::kDead);
  EXPECT_EQ(Judge(keys_.Manifest({1})), Fate::kAlive);
  EXPECT_EQ(Judge(keys_.ArchivePrefix() + "_"), Fate::kAlive);
}

TEST_F(ReclaimPlanTest, WhatIsNoKeyOfOursIsNotUnderstood) {
  for (const std::string& key : {keys_.DataPrefix() + "tok/notes.txt", keys_.ArchivePrefix() + "20-entries",
                                 keys_.StreamPrefix() + "new-folder/1", std::string("other/stream.json"),
                                 keys_.Data("tok", {9}, 4, kNonce) + ".tmp"}) {
    EXPECT_EQ(Judge(key), Fate::kNotUnderstood) << key;
  }
}

TEST(ReclaimPlanReachedTest, WhatIsReachedIsAliveThoughItsProducerIsFencedOrGone) {
  MemoryStore store;
  LiveStream stream(store);
  stream.Open("tok");
  stream.Append("tok", 2);
  stream.Open("tok");
  const Manifest newest = stream.Newest();
  const Result<ReachedKeys> reached = ReachedKeys::Of(stream.log(), newest);
  ASSERT_TRUE(reached.ok());
  const ReclaimJudge judge(stream.keys(), newest, {}, *reached);
  for (const std::string& key : stream.Keys(stream.keys().DataPrefix())) EXPECT_EQ(judge.Judge(key), Fate::kAlive);
}

}  // namespace
}  // namespace batchweave
