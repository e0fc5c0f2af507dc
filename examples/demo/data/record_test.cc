// What ranks fold: statistic, ledger, and both in a record.
#include "examples/demo/data/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "batchweave/testing/matchers.h"
#include "examples/demo/data/files.h"
#include "examples/demo/data/reference.h"
#include "examples/demo/data/testing/small_corpus.h"

namespace batchweave::demo {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr Grid kGrid{.dp = 4, .cp = 2};

PackingOptions Packing() { return {.parts = 3, .grid = kGrid, .sequence_length = 64}; }

std::vector<PackedBatch> AllBatches() {
  const SmallCorpus& small = SmallCorpus::Instance();
  std::vector<PackedBatch> batches;
  PackingOptions packing = Packing();
  for (packing.part = 0; packing.part < packing.parts; ++packing.part) {
    BatchSource source = BatchSource::From(small.corpus(), small.tokenizer(), packing, "").value();
    while (std::optional<PackedBatch> batch = source.Next().value()) batches.push_back(std::move(*batch));
  }
  return batches;
}

Record Reference() {
  const SmallCorpus& small = SmallCorpus::Instance();
  return FoldReference(small.corpus(), small.tokenizer(), Packing(), [](double) {}).value();
}

// Which of `ranks` ranks reads a slice, on a mesh of `mesh`.
size_t RankOf(Grid mesh, size_t slice) {
  const size_t dp = slice / kGrid.cp * mesh.dp / kGrid.dp;
  const size_t cp = slice % kGrid.cp * mesh.cp / kGrid.cp;
  return dp * mesh.cp + cp;
}

TEST(RecordTest, IsTheSameOnEveryMeshAndInEveryOrder) {
  const Record reference = Reference();
  std::vector<PackedBatch> batches = AllBatches();
  std::ranges::reverse(batches);
  for (const Grid mesh : {Grid{1, 1}, Grid{2, 2}, Grid{4, 1}, Grid{4, 2}, Grid{1, 2}}) {
    std::vector<Record> ranks(mesh.slices());
    for (const PackedBatch& batch : batches) {
      for (size_t i = 0; i < batch.slices.size(); ++i) {
        ASSERT_THAT(ranks[RankOf(mesh, i)].Fold(batch.slices[i]), IsOk());
      }
    }
    Record total;
    for (const Record& rank : ranks) total.Merge(rank);
    EXPECT_EQ(total.statistic, reference.statistic);
    EXPECT_EQ(total.statistic.Digest(), reference.statistic.Digest());
    EXPECT_EQ(total.ledger, reference.ledger);
  }
}

TEST(RecordTest, ReferenceCountsTheStepsAndFindsEverySample) {
  const Record reference = Reference();
  EXPECT_EQ(reference.position, AllBatches().size());
  EXPECT_TRUE(reference.ledger.Audit(IdsOf(SmallCorpus::Instance().corpus())).clean());
}

TEST(RecordTest, OneSliceLostOrReadTwiceShows) {
  const Record reference = Reference();
  const std::vector<PackedBatch> batches = AllBatches();
  const std::vector<std::string> ids = IdsOf(SmallCorpus::Instance().corpus());
  Record twice = reference;
  ASSERT_THAT(twice.Fold(batches[1].slices[3]), IsOk());
  EXPECT_NE(twice.statistic, reference.statistic);
  EXPECT_GE(twice.ledger.Audit(ids).duplicates, 1u);
  EXPECT_EQ(twice.ledger.Audit(ids).missing, 0u);

  Record lost;
  for (size_t batch = 0; batch < batches.size(); ++batch) {
    for (size_t i = 0; i < batches[batch].slices.size(); ++i) {
      if (batch == 1 && i == 3) continue;
      ASSERT_THAT(lost.Fold(batches[batch].slices[i]), IsOk());
    }
  }
  EXPECT_NE(lost.statistic, reference.statistic);
  EXPECT_GE(lost.ledger.Audit(ids).missing, 1u);
  EXPECT_EQ(lost.ledger.Audit(ids).duplicates, 0u);
}

TEST(RecordTest, ForeignSliceIsCorruptAndChangesNothing) {
  Record record;
  EXPECT_THAT(record.Fold(AsBytes("foreign")), IsError(ErrorCode::kCorrupt));
  EXPECT_EQ(record, Record{});
}

TEST(RecordTest, SavedRecordComesBack) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/rank-0";
  EXPECT_THAT(Record::Load(path), IsError(ErrorCode::kNotFound));
  const Record reference = Reference();
  ASSERT_THAT(Record{}.Save(path), IsOk());
  ASSERT_THAT(reference.Save(path), IsOk());
  const Result<Record> loaded = Record::Load(path);
  ASSERT_THAT(loaded, IsOk());
  EXPECT_TRUE(*loaded == reference);
}

TEST(RecordTest, AlteredOrShortFileIsCorrupt) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/rank-0";
  ASSERT_THAT(Reference().Save(path), IsOk());
  const Bytes bytes = ReadFile(path).value();
  for (size_t i = 0; i < bytes.size(); i += 997) {
    Bytes altered = bytes;
    altered[i] ^= std::byte{1};
    folder.Write("rank-0", altered);
    ASSERT_THAT(Record::Load(path), IsError(ErrorCode::kCorrupt, HasSubstr("rank-0"))) << "byte=" << i;
    folder.Write("rank-0", ByteView(bytes).first(i));
    ASSERT_THAT(Record::Load(path), IsError(ErrorCode::kCorrupt)) << "size=" << i;
  }
}

Slice SliceOf(std::vector<uint16_t> tokens, std::vector<SampleSpan> spans) {
  return {.tokens = std::move(tokens), .spans = std::move(spans), .patches = {}};
}

TEST(StatisticTest, PairsDoNotReachAcrossSamples) {
  Statistic together;
  together.Fold(SliceOf({5, 6, 7, 8}, {{"a", 0, 0, 2, 2}, {"b", 2, 0, 2, 2}}));
  Statistic apart;
  apart.Fold(SliceOf({7, 8}, {{"b", 0, 0, 2, 2}}));
  apart.Fold(SliceOf({5, 6}, {{"a", 0, 0, 2, 2}}));
  EXPECT_EQ(together, apart);
  EXPECT_EQ(together.text_tokens(), 4u);
  Statistic exchanged;
  exchanged.Fold(SliceOf({6, 5, 7, 8}, {{"a", 0, 0, 2, 2}, {"b", 2, 0, 2, 2}}));
  EXPECT_NE(together, exchanged);
}

TEST(StatisticTest, MomentsAreThoseOfThePixels) {
  const std::vector<uint8_t> pixels = {10, 20, 30, 255, 30, 20, 10, 0};
  Slice slice = SliceOf({kPatchToken}, {{"a", 0, 0, 1, 1}});
  slice.patches.push_back({.width = 2, .height = 1, .channels = 4, .pixels = std::as_bytes(std::span(pixels))});
  Statistic statistic;
  statistic.Fold(slice);
  EXPECT_EQ(statistic.channels()[0], (Moments{.count = 2, .sum = 40, .sum_of_squares = 1000}));
  EXPECT_EQ(statistic.channels()[1], (Moments{.count = 2, .sum = 40, .sum_of_squares = 800}));
  EXPECT_EQ(MeanOf(statistic.channels()[3]), 127.5);
  EXPECT_EQ(DeviationOf(statistic.channels()[0]), 10);
  EXPECT_EQ(DeviationOf(Moments{}), 0);
  EXPECT_EQ(statistic.text_tokens(), 0u);
  EXPECT_EQ(statistic.patches(), 1u);
}

TEST(LedgerTest, SampleIsDeliveredIfItsSpansTileIt) {
  Ledger ledger;
  ledger.Record(SliceOf({}, {{"whole", 0, 0, 5, 5}, {"cut", 5, 3, 5, 5}}));
  ledger.Record(SliceOf({}, {{"cut", 0, 0, 3, 5}}));
  const AuditReport audit = ledger.Audit({"whole", "cut"});
  EXPECT_TRUE(audit.clean());
  EXPECT_EQ(audit.delivered, 2u);
}

TEST(LedgerTest, AuditTellsWhatIsWrong) {
  Ledger ledger;
  ledger.Record(SliceOf({}, {{"gap", 0, 0, 2, 5}, {"gap", 2, 3, 5, 5}, {"tail", 5, 0, 4, 5}, {"head", 9, 1, 5, 5}}));
  ledger.Record(SliceOf({}, {{"twice", 0, 0, 5, 5}, {"overlap", 5, 0, 3, 5}, {"overlap", 8, 2, 5, 5}}));
  ledger.Record(SliceOf({}, {{"twice", 0, 0, 5, 5}, {"foreign", 5, 0, 1, 1}, {"lengths", 6, 0, 2, 4}}));
  ledger.Record(SliceOf({}, {{"lengths", 0, 2, 5, 5}}));
  const AuditReport audit = ledger.Audit({"gap", "tail", "head", "twice", "overlap", "lengths", "absent"});
  EXPECT_EQ(audit.samples, 7u);
  EXPECT_EQ(audit.delivered, 0u);
  EXPECT_EQ(audit.missing, 5u);
  EXPECT_EQ(audit.duplicates, 2u);
  EXPECT_EQ(audit.unknown, 1u);
  EXPECT_THAT(audit.findings, SizeIs(8));
  EXPECT_FALSE(audit.clean());
}

}  // namespace
}  // namespace batchweave::demo
