#include "batchweave/log/pending_commit.h"

#include <gtest/gtest.h>

#include "batchweave/log/change.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/stream_builder.h"
#include "batchweave/testing/test_env.h"
#include "batchweave/testing/torn_store.h"

namespace batchweave {
namespace {

using Outcome = PendingCommit::Outcome;

// A stream at version 3; commits go through a store that fails as told.
class PendingCommitTest : public ::testing::Test {
 protected:
  PendingCommitTest() {
    while (stream_.newest().version < Version{3}) stream_.Append({});
  }
  ManifestLog OpenLog(ObjectStore& store) { return {env_.Over(store), stream_.keys(), stream_.stream_json_hash()}; }
  PendingCommit SealOn(ManifestLog& log) {
    const LoggedManifest base{.manifest = stream_.newest(), .hash = stream_.newest_hash()};
    Manifest next = *BeginNext(base);
    next.sealed = true;
    return {log, base, std::move(next)};
  }
  TimePoint Soon() { return After(env_.clock.Now(), std::chrono::minutes(1)); }
  Result<LoggedManifest> Newest() { return OpenLog(memory_).ReadNewest(); }
  std::string Slot() { return stream_.keys().Manifest({4}); }

  MemoryStore memory_;
  StreamBuilder stream_{memory_};
  TestEnv env_;
};

TEST_F(PendingCommitTest, UncontendedCommitIsOnePutAndNothingElse) {
  FaultyStore counting(memory_);
  ManifestLog log = OpenLog(counting);
  PendingCommit commit = SealOn(log);
  EXPECT_THAT(commit.Resolve(Soon()), IsOkAndHolds(Outcome::kCommitted));
  EXPECT_EQ(counting.calls(), 1u);
  EXPECT_EQ(Newest()->manifest, commit.committed().manifest);
  EXPECT_EQ(Newest()->hash, commit.committed().hash);
  EXPECT_EQ(Newest()->manifest.previous_hash, stream_.newest_hash());
}

// Covers A1.
TEST_F(PendingCommitTest, LostResponseOfACommitIsStillACommit) {
  FaultyStore store(memory_, {.fail_call = 1, .when = FaultWhen::kAfter, .code = ErrorCode::kUnknownOutcome});
  ManifestLog log = OpenLog(store);
  PendingCommit commit = SealOn(log);
  EXPECT_THAT(commit.Resolve(Soon()), IsOkAndHolds(Outcome::kCommitted));
  EXPECT_EQ(Newest()->manifest.commit_id, commit.committed().manifest.commit_id);
}

// Covers A5.
TEST_F(PendingCommitTest, ExistsMayBeItsOwnFirstTry) {
  // A layer below delivered the put twice: the first won, the answer is that of the second.
  FaultyStore store(memory_, {.fail_call = 1, .when = FaultWhen::kAfter, .code = ErrorCode::kAlreadyExists});
  ManifestLog log = OpenLog(store);
  PendingCommit commit = SealOn(log);
  EXPECT_THAT(commit.Resolve(Soon()), IsOkAndHolds(Outcome::kCommitted));
}

// Covers A2.
TEST_F(PendingCommitTest, PutThatLandsLateIsFoundWheneverItLands) {
  FaultyStore store(memory_, {.fail_call = 1,
                              .when = FaultWhen::kLater,
                              .code = ErrorCode::kUnknownOutcome,
                              .filter = {.calls = kCallCreate}});
  ManifestLog log = OpenLog(store);
  PendingCommit commit = SealOn(log);
  // The read-back finds nothing, which proves nothing; the same bytes go to the slot again, then the first try lands.
  EXPECT_THAT(commit.Resolve(Soon()), IsOkAndHolds(Outcome::kCommitted));
  const Bytes committed = *memory_.Read(Slot());
  store.ApplyDelayed();
  EXPECT_EQ(*memory_.Read(Slot()), committed);
}

// Covers A6.
TEST_F(PendingCommitTest, ConflictOnAnEmptySlotIsTriedAgainAndCommits) {
  FaultyStore store(memory_, {.fail_call = 1, .when = FaultWhen::kBefore, .code = ErrorCode::kAlreadyExists});
  ManifestLog log = OpenLog(store);
  PendingCommit commit = SealOn(log);
  EXPECT_THAT(commit.Resolve(Soon()), IsOkAndHolds(Outcome::kCommitted));
}

// Every answer that a store can give, with and without the effect: a commit that took is known as ours, one that did not
// is made by the next try or is refused; nothing is both.
// Covers A3.
TEST_F(PendingCommitTest, NoAnswerOfTheStoreMisleadsIt) {
  for (const ErrorCode code : {ErrorCode::kAlreadyExists, ErrorCode::kUnavailable, ErrorCode::kUnknownOutcome,
                               ErrorCode::kNotFound, ErrorCode::kCorrupt, ErrorCode::kClosed}) {
    for (const FaultWhen when : {FaultWhen::kBefore, FaultWhen::kAfter}) {
      MemoryStore memory;
      StreamBuilder stream(memory);
      FaultyStore store(memory, {.fail_call = 1, .when = when, .code = code});
      ManifestLog log(env_.Over(store), stream.keys(), stream.stream_json_hash());
      const LoggedManifest base{.manifest = stream.newest(), .hash = stream.newest_hash()};
      PendingCommit commit(log, base, *BeginNext(base));
      EXPECT_THAT(commit.Resolve(Soon()), IsOkAndHolds(Outcome::kCommitted)) << ErrorCodeName(code);
      EXPECT_THAT(log.FindNewest(), IsOkAndHolds(Version{2}));
    }
  }
}

// Covers A7.
TEST_F(PendingCommitTest, RefusalIsNeverTakenForAConflict) {
  FaultyStore store(memory_, {.fail_call = 1, .when = FaultWhen::kBefore, .code = ErrorCode::kDenied});
  ManifestLog log = OpenLog(store);
  PendingCommit commit = SealOn(log);
  EXPECT_THAT(commit.Resolve(Soon()), IsError(ErrorCode::kDenied));
  EXPECT_EQ(Newest()->manifest, stream_.newest());
}

TEST_F(PendingCommitTest, RefusalAfterAnUndecidedTryDecidesNothing) {
  // The first try landed without an answer; the second is denied, as when credentials expire in between.
  FaultyStore inner(memory_, {.fail_call = 2, .code = ErrorCode::kDenied, .filter = {.calls = kCallCreate}});
  FaultyStore store(inner, {.fail_call = 1,
                            .when = FaultWhen::kLater,
                            .code = ErrorCode::kUnknownOutcome,
                            .filter = {.calls = kCallCreate}});
  ManifestLog log = OpenLog(store);
  PendingCommit commit = SealOn(log);
  EXPECT_THAT(commit.Resolve(Soon()), IsOkAndHolds(Outcome::kCommitted));
}

TEST_F(PendingCommitTest, TakenSlotIsLostAndTheWinnerStays) {
  stream_.Append({});
  const Bytes winner = *memory_.Read(Slot());
  ManifestLog log = OpenLog(memory_);
  const Result<LoggedManifest> third = log.Read({3});
  ASSERT_THAT(third, IsOk());
  PendingCommit commit(log, *third, *BeginNext(*third));
  EXPECT_THAT(commit.Resolve(Soon()), IsOkAndHolds(Outcome::kLost));
  EXPECT_EQ(*memory_.Read(Slot()), winner);
}

// Covers B1.
TEST_F(PendingCommitTest, SleeperLearnsItsFateFromATombstone) {
  ManifestLog log = OpenLog(memory_);
  PendingCommit asleep = SealOn(log);
  PendingCommit ours = SealOn(log);
  ASSERT_THAT(ours.Resolve(Soon()), IsOkAndHolds(Outcome::kCommitted));
  const Manifest& won = ours.committed().manifest;
  const Bytes tombstone = EncodeTombstone(
      {.version = {4}, .commit_id = won.commit_id, .hash = ours.committed().hash, .previous_hash = won.previous_hash});
  ASSERT_THAT(PutBytes(memory_, Slot(), tombstone, PutMode::kOverwrite), IsOk());
  EXPECT_THAT(asleep.Resolve(Soon()), IsOkAndHolds(Outcome::kLost));
  // A committer whose answer was lost for so long finds its own id there.
  EXPECT_THAT(ours.Resolve(Soon()), IsOkAndHolds(Outcome::kCommitted));
}

// Covers M18.
TEST_F(PendingCommitTest, TombstoneThatComesWhileTheSlotIsReadBackTellsItsFate) {
  ManifestLog log = OpenLog(memory_);
  PendingCommit winner = SealOn(log);
  ASSERT_THAT(winner.Resolve(Soon()), IsOkAndHolds(Outcome::kCommitted));
  TornStore store(memory_, {.key = Slot(), .at_bytes = 200, .between = [&] { stream_.Retire({4}); }});
  ManifestLog torn_log = OpenLog(store);
  PendingCommit asleep = SealOn(torn_log);
  EXPECT_THAT(asleep.Resolve(Soon()), IsOkAndHolds(Outcome::kLost));
  EXPECT_TRUE(store.torn());
}

// Covers M10.
TEST_F(PendingCommitTest, UndecidedCommitStaysUndecidedUntilTheSlotTells) {
  FaultyStore store(
      memory_,
      {.fail_call = 1, .calls = Fault::kAllCalls, .when = FaultWhen::kBefore, .code = ErrorCode::kUnknownOutcome});
  ManifestLog log = OpenLog(store);
  PendingCommit commit = SealOn(log);
  EXPECT_THAT(commit.Resolve(Soon()), IsError(ErrorCode::kUnknownOutcome));
  EXPECT_THAT(commit.Resolve(Soon()), IsError(ErrorCode::kUnknownOutcome));
  EXPECT_EQ(Newest()->manifest, stream_.newest());
}

// Covers I12.
TEST_F(PendingCommitTest, UnreachableStoreEndsInAnErrorThatSaysNothingWasWritten) {
  FaultyStore store(memory_, {.fail_call = 1, .calls = Fault::kAllCalls, .code = ErrorCode::kUnavailable});
  ManifestLog log = OpenLog(store);
  PendingCommit commit = SealOn(log);
  EXPECT_THAT(commit.Resolve(kForever), IsError(ErrorCode::kUnavailable, ::testing::HasSubstr("not made")));
}

TEST_F(PendingCommitTest, ForeignBytesInTheSlotAreCorrupt) {
  ASSERT_THAT(PutBytes(memory_, Slot(), AsBytes("not a manifest"), PutMode::kCreate), IsOk());
  ManifestLog log = OpenLog(memory_);
  PendingCommit commit = SealOn(log);
  EXPECT_THAT(commit.Resolve(Soon()), IsError(ErrorCode::kCorrupt, ::testing::HasSubstr(Slot())));
}

}  // namespace
}  // namespace batchweave
