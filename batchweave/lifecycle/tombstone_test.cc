#include "batchweave/lifecycle/tombstone.h"

#include <gmock/gmock.h>

#include "batchweave/log/pending_commit.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/store/metered_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/live_stream.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

Result<uint64_t> RetireAll(ManifestLog& log) {
  const Version newest = BW_TRY(log.FindNewest());
  const VersionRange range = BW_TRY(FindRetirable(log, newest));
  BW_TRY(RetireVersions(log, range, [](Version) {}));
  return range.count();
}

// The versions that are tombstones, which must be the first ones.
uint64_t CountTombstones(LiveStream& stream) {
  uint64_t count = 0;
  bool any_alive = false;
  const Version newest = *stream.log().FindNewest();
  for (Version version{1}; version <= newest; version = Next(version)) {
    const bool retired = FailedWith(stream.log().Read(version), ErrorCode::kTrimmed);
    EXPECT_FALSE(retired && any_alive) << version.value;
    any_alive = any_alive || !retired;
    count += retired ? 1 : 0;
  }
  return count;
}

class TombstoneTest : public ::testing::Test {
 protected:
  MemoryStore store_;
  LiveStream stream_{store_};
};

TEST_F(TombstoneTest, TheNewestVersionsStay) {
  EXPECT_THAT(RetireAll(stream_.log()), IsOkAndHolds(0u)) << "no version at all";
  stream_.Tick(kLiveVersions);
  EXPECT_THAT(RetireAll(stream_.log()), IsOkAndHolds(0u));
  stream_.Tick(3);
  EXPECT_THAT(RetireAll(stream_.log()), IsOkAndHolds(3u));
  EXPECT_EQ(CountTombstones(stream_), 3u);
  EXPECT_THAT(RetireAll(stream_.log()), IsOkAndHolds(0u));
}

// Covers I1, I2.
TEST_F(TombstoneTest, KeepsCommitIdAndBothLinksOfTheChain) {
  stream_.Tick(kLiveVersions + 2);
  const LoggedManifest second = *stream_.log().Read(Version{2});
  ASSERT_THAT(RetireAll(stream_.log()), IsOk());
  const Result<Tombstone> tombstone = DecodeTombstone(*store_.Read(stream_.keys().Manifest({2})));
  EXPECT_THAT(tombstone, IsOkAndHolds(Tombstone{.version = {2},
                                                .commit_id = second.manifest.commit_id,
                                                .hash = second.hash,
                                                .previous_hash = second.manifest.previous_hash}));
}

// Covers B1.
TEST_F(TombstoneTest, ACommitterThatSleptThroughItAllHasLost) {
  stream_.Tick(3);
  const LoggedManifest base = *stream_.log().ReadNewest();
  PendingCommit sleeper(stream_.log(), base, *BeginNext(base));
  stream_.Tick(kLiveVersions + 10);
  ASSERT_THAT(RetireAll(stream_.log()), IsOk());
  EXPECT_THAT(sleeper.Resolve(kForever), IsOkAndHolds(PendingCommit::Outcome::kLost));
}

// Covers B1.
TEST_F(TombstoneTest, ACommitterThatWonAndNeverHeardLearnsItFromTheTombstone) {
  stream_.Tick(3);
  const LoggedManifest base = *stream_.log().ReadNewest();
  FaultyStore store(store_, {.fail_call = 1, .when = FaultWhen::kAfter, .code = ErrorCode::kUnknownOutcome});
  ManifestLog log = stream_.LogOver(store);
  PendingCommit sleeper(log, base, *BeginNext(base));
  EXPECT_THAT(sleeper.Resolve(TimePoint::min()), IsOk());
  stream_.Tick(kLiveVersions + 10);
  ASSERT_THAT(RetireAll(stream_.log()), IsOk());
  EXPECT_THAT(sleeper.Resolve(kForever), IsOkAndHolds(PendingCommit::Outcome::kCommitted));
}

TEST_F(TombstoneTest, ARunCostsWhatItRetires) {
  stream_.Tick(kLiveVersions + 500);
  ASSERT_THAT(RetireAll(stream_.log()), IsOk());
  stream_.Tick(1);
  MeteredStore store(store_);
  ManifestLog log = stream_.LogOver(store);
  ASSERT_THAT(RetireAll(log), IsOkAndHolds(1u));
  EXPECT_EQ(store.usage().overwrites, 1u);
  EXPECT_LE(store.usage().requests(), 6u);
}

// Covers I1.
TEST(TombstoneSweepTest, ARunThatFailsAnywhereGoesOnWhereItWas) {
  ForEachFailure([](const Fault& fault) {
    MemoryStore memory;
    LiveStream stream(memory);
    stream.Tick(kLiveVersions + 7);
    FaultyStore store(memory, fault);
    ManifestLog log = stream.LogOver(store);
    const Result<uint64_t> first = RetireAll(log);
    EXPECT_TRUE(first.ok() || FailedWith(first, ErrorCode::kUnavailable));
    CountTombstones(stream);
    EXPECT_THAT(RetireAll(stream.log()), IsOk());
    EXPECT_EQ(CountTombstones(stream), 7u);
    EXPECT_EQ(stream.Newest().version.value, kLiveVersions + 7);
    return store.fired();
  });
}

}  // namespace
}  // namespace batchweave
