#include "batchweave/lifecycle/upgrade.h"

#include <gmock/gmock.h>

#include "batchweave/store/memory_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/live_stream.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

constexpr Features kNewer{.writer = 6};

TEST(UpgradeTest, WhatThisSoftwareKnowsANewStreamNeedsNoUpgradeFor) {
  MemoryStore store;
  LiveStream stream(store);
  stream.Tick(1);
  EXPECT_THAT(UpgradeStream(stream.log(), kKnownFeatures, kForever), IsOk());
  EXPECT_EQ(stream.Newest().version, Version{1});
}

TEST(UpgradeTest, WhatIsMissingIsAddedAndNothingTakenAway) {
  Manifest manifest{.reader_features = 1, .writer_features = 9};
  const Features known{.reader = 3, .writer = 5};
  EXPECT_EQ(MissingFeatures(manifest, known), (Features{.reader = 2, .writer = 4}));
  EXPECT_TRUE(ApplyUpgrade(manifest, known));
  EXPECT_EQ(manifest.reader_features, 3u);
  EXPECT_EQ(manifest.writer_features, 13u);
  EXPECT_FALSE(ApplyUpgrade(manifest, known));
}

TEST(UpgradeTest, SoftwareThatDoesNotKnowAWriterFeatureStillReadsAndCommitsNoMore) {
  MemoryStore store;
  LiveStream stream(store);
  ASSERT_THAT(UpgradeStream(stream.log(), kNewer, kForever), IsOk());
  EXPECT_EQ(stream.Newest().writer_features, kNewer.writer);
  EXPECT_THAT(UpgradeStream(stream.log(), kNewer, kForever), IsError(ErrorCode::kIncompatible));
}

// Covers I1, I2.
TEST(UpgradeTest, WhicheverCallFailsTheUpgradeHappensOnceAndIsToldTruly) {
  ForEachFailure([](const Fault& fault) {
    MemoryStore memory;
    LiveStream stream(memory);
    stream.Tick(1);
    FaultyStore store(memory, fault);
    ManifestLog log = stream.LogOver(store);
    const Result<LoggedManifest> upgraded = UpgradeStream(log, kNewer, kForever);
    const Manifest newest = stream.Newest();
    EXPECT_TRUE(!upgraded.ok() || newest.writer_features == kNewer.writer);
    EXPECT_EQ(newest.version, Version{newest.writer_features == 0 ? 1u : 2u});
    return store.fired();
  });
}

}  // namespace
}  // namespace batchweave
