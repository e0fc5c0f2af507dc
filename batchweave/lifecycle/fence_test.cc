#include "batchweave/lifecycle/fence.h"

#include <gmock/gmock.h>

#include "batchweave/lifecycle/reclaim.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/live_stream.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

class FenceTest : public ::testing::Test {
 protected:
  FenceTest() {
    stream_.Open("tok");
    stream_.Append("tok", 2);
  }
  Result<LoggedManifest> Fence(std::string_view producer) { return FenceProducer(stream_.log(), producer, kForever); }

  MemoryStore store_;
  LiveStream stream_{store_};
};

// Covers M7.
TEST_F(FenceTest, GivesTheRowAnIncarnationThatIsTheVersionAndThatNobodyHolds) {
  const ProducerRow before = stream_.Newest().rows[0];
  const Result<LoggedManifest> fenced = Fence("tok");
  ASSERT_THAT(fenced, IsOk());
  const ProducerRow& row = fenced->manifest.rows[0];
  EXPECT_EQ(row.incarnation.value, fenced->manifest.version.value);
  EXPECT_NE(row.opening_nonce, before.opening_nonce);
  EXPECT_EQ(row.seq, before.seq);
  EXPECT_EQ(row.step, before.step);
}

// Covers I9.
TEST_F(FenceTest, MakesItsUploadsDead) {
  stream_.Upload("tok", stream_.Newest().rows[0].incarnation, 3);
  Result<ReclaimReport> report = Reclaim(stream_.log());
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->objects, 0u);
  ASSERT_THAT(Fence("tok"), IsOk());
  report = Reclaim(stream_.log());
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->objects, 1u);
  EXPECT_EQ(stream_.Keys(stream_.keys().DataPrefix()).size(), 2u);
}

TEST_F(FenceTest, OfAFinishedProducerOrASealedStreamChangesNothing) {
  stream_.Finish("tok");
  const Version version = stream_.Newest().version;
  EXPECT_THAT(Fence("tok"), IsOk());
  stream_.Open("other");
  stream_.Change([](Manifest& next) { next.sealed = true; });
  EXPECT_THAT(Fence("other"), IsOk());
  EXPECT_EQ(stream_.Newest().version.value, version.value + 2);
}

TEST_F(FenceTest, FindsARowThatIsArchived) {
  stream_.ArchiveRows();
  ASSERT_THAT(Fence("tok"), IsOk());
  const Manifest newest = stream_.Newest();
  ASSERT_EQ(newest.rows.size(), 1u);
  EXPECT_EQ(newest.rows[0].seq, 2u);
  EXPECT_THAT(Fence("nobody"), IsError(ErrorCode::kNotFound));
}

TEST(FenceSweepTest, ThatFailsAnywhereIsMadeOrNot) {
  ForEachFailure([](const Fault& fault) {
    MemoryStore memory;
    LiveStream stream(memory);
    const Incarnation opened = stream.Open("tok");
    FaultyStore store(memory, fault);
    ManifestLog log = stream.LogOver(store);
    const Result<LoggedManifest> fenced = FenceProducer(log, "tok", kForever);
    EXPECT_EQ(stream.Newest().rows[0].incarnation != opened, fenced.ok());
    return store.fired();
  });
}

}  // namespace
}  // namespace batchweave
