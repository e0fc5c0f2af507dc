#include "batchweave/log/change.h"

#include <gtest/gtest.h>

#include "batchweave/store/memory_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/stream_builder.h"
#include "batchweave/testing/test_env.h"

namespace batchweave {
namespace {

Result<bool> Seal(Manifest& next) {
  if (next.sealed) return false;
  next.sealed = true;
  return true;
}

class ChangeTest : public ::testing::Test {
 protected:
  ManifestLog OpenLog(ObjectStore& store) { return {env_.Over(store), stream_.keys(), stream_.stream_json_hash()}; }

  MemoryStore memory_;
  StreamBuilder stream_{memory_};  // At version 1.
  TestEnv env_;
};

TEST_F(ChangeTest, ChangeIsCommittedOnTheNewest) {
  ManifestLog log = OpenLog(memory_);
  const Result<LoggedManifest> sealed = CommitChange(log, kForever, Seal);
  ASSERT_THAT(sealed, IsOk());
  EXPECT_EQ(sealed->manifest.version, Version{2});
  EXPECT_TRUE(log.ReadNewest()->manifest.sealed);
}

TEST_F(ChangeTest, NothingToDoCommitsNothing) {
  ManifestLog log = OpenLog(memory_);
  ASSERT_THAT(CommitChange(log, kForever, Seal), IsOk());
  EXPECT_EQ(CommitChange(log, kForever, Seal)->manifest.version, Version{2});
  EXPECT_THAT(log.FindNewest(), IsOkAndHolds(Version{2}));
}

// Covers C3, M9.
TEST_F(ChangeTest, LostRaceChecksEverythingAgainOnTheNewest) {
  ManifestLog log = OpenLog(memory_);
  int calls = 0;
  // Two winners come first, the second of which makes the change impossible.
  const auto refuse_when_sealed = [&](Manifest& next) -> Result<bool> {
    if (next.sealed) return Error{ErrorCode::kSealed, "ended"};
    if (++calls == 1) stream_.Append({});
    if (calls == 2) stream_.Seal();
    return true;
  };
  EXPECT_THAT(CommitChange(log, kForever, refuse_when_sealed), IsError(ErrorCode::kSealed));
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(log.FindNewest(), IsOkAndHolds(Version{3}));
}

// Covers B4, I12.
TEST_F(ChangeTest, RacesThatAreLostForEverEndInAnError) {
  ManifestLog log = OpenLog(memory_);
  int calls = 0;
  const auto outrun = [&](Manifest&) -> Result<bool> {
    ++calls;
    stream_.CommitNothing();
    return true;
  };
  EXPECT_THAT(CommitChange(log, kForever, outrun), IsError(ErrorCode::kUnavailable, ::testing::HasSubstr("try again")));
  EXPECT_EQ(calls, kChangeAttemptsMax);
}

TEST_F(ChangeTest, UnknownWriterFeatureForbidsToCommit) {
  LoggedManifest base{.manifest = stream_.newest(), .hash = stream_.newest_hash()};
  base.manifest.writer_features = uint64_t{1} << 40;
  EXPECT_THAT(BeginNext(base), IsError(ErrorCode::kIncompatible, ::testing::HasSubstr("0x10000000000")));
}

// Whatever single request fails, before or after its effect: done once, or told; and done by the next call at the latest.
// Covers A1, A3, I1, I2.
TEST_F(ChangeTest, AnySingleFailureLeavesTheLogWhole) {
  ForEachFailure([&](const Fault& fault) {
    MemoryStore memory;
    StreamBuilder stream(memory);
    FaultyStore store(memory, fault);
    ManifestLog log(env_.Over(store), stream.keys(), stream.stream_json_hash());
    Result<LoggedManifest> sealed = CommitChange(log, kForever, Seal);
    if (!sealed.ok()) sealed = CommitChange(log, kForever, Seal);
    EXPECT_THAT(sealed, IsOk());
    ManifestLog truth(env_.Over(memory), stream.keys(), stream.stream_json_hash());
    EXPECT_THAT(truth.FindNewest(), IsOkAndHolds(Version{2}));
    EXPECT_EQ(truth.Read({2})->manifest.previous_hash, stream.newest_hash());
    return store.fired();
  });
}

}  // namespace
}  // namespace batchweave
