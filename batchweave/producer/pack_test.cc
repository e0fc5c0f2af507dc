#include "batchweave/producer/pack.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

const TgbIdentity kIdentity{.stream_id = {{1, 2}}, .producer = "tok-03", .incarnation = {7}, .seq = 12};

GlobalBatch BatchOf(Grid grid, const std::vector<Bytes>& slices) {
  GlobalBatch batch(grid, {.content_type = "text/plain", .schema_hash = 5});
  for (uint32_t i = 0; i < slices.size(); ++i) {
    EXPECT_THAT(batch.SetCopy({.dp = i % grid.dp, .cp = i / grid.dp}, slices[i]), IsOk());
  }
  return batch;
}

// What a reader finds in `object` at the place that the entry gives.
void ExpectSlice(const Bytes& object, const PartLayout& layout, Coordinate at, const Bytes& slice) {
  const uint64_t offset = layout.SliceOffset(at);
  EXPECT_EQ(offset % kSliceAlignment, 0u);
  ASSERT_EQ(layout.SliceBytes(at), slice.size());
  EXPECT_TRUE(std::ranges::equal(ByteView(object).subspan(offset, slice.size()), slice));
  const auto trailer = ByteView(object).subspan(offset + slice.size()).first<kTrailerBytes>();
  EXPECT_EQ(LoadTrailer(trailer), SliceTrailer(kIdentity, at, slice.size(), Hash64(slice)));
}

// Covers I10.
TEST(PackTest, EverySliceLiesWhereTheEntrySaysWithItsTrailer) {
  const std::vector<Bytes> slices = {ToBytes("a"), {}, Bytes(56), Bytes(57), Bytes(64), Bytes(1000)};
  const GlobalBatch batch = BatchOf({.dp = 3, .cp = 2}, slices);
  const PackedBatch packed = PackBatch(kIdentity, batch, {.cursor = ToBytes("c"), .samples = 9}, 42);
  const Bytes object = Join(packed.object.pieces);
  const Part& part = packed.entry.parts.front();
  EXPECT_EQ(part.nonce, 42u);
  EXPECT_EQ(part.object_bytes, object.size());
  const Result<PartLayout> layout = PartLayout::Make(part.range, part.slice_bytes);
  ASSERT_THAT(layout, IsOk());
  for (uint32_t i = 0; i < slices.size(); ++i) ExpectSlice(object, *layout, {i % 3, i / 3}, slices[i]);
  EXPECT_EQ(layout->payload_end() + part.footer_bytes, object.size());
}

TEST(PackTest, FooterExplainsTheObjectWithoutTheManifest) {
  const GlobalBatch batch = BatchOf({.dp = 2, .cp = 1}, {ToBytes("ab"), ToBytes("cde")});
  const PackedBatch packed = PackBatch(kIdentity, batch, {}, 1);
  const Result<TgbFooter> footer = DecodeTgbFooter(Join(packed.object.pieces));
  ASSERT_THAT(footer, IsOk());
  EXPECT_EQ(footer->identity, kIdentity);
  EXPECT_EQ(footer->slice_bytes, (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(footer->digest, packed.entry.digest);
  EXPECT_EQ(footer->content_type, "text/plain");
  EXPECT_EQ(footer->schema_hash, 5u);
}

TEST(PackTest, ProvenanceLiesBeforeTheFooterWithItsHash) {
  const GlobalBatch batch = BatchOf({.dp = 2, .cp = 1}, {ToBytes("ab"), ToBytes("cde")});
  const PublishOptions options{.provenance = ToBytes("rows 8 to 11")};
  const PackedBatch packed = PackBatch(kIdentity, batch, options, 1);
  const Bytes object = Join(packed.object.pieces);
  const Part& part = packed.entry.parts.front();
  EXPECT_EQ(part.provenance_bytes, options.provenance.size());
  const ByteView before_footer = ByteView(object).first(object.size() - part.footer_bytes);
  EXPECT_EQ(AsText(before_footer.last(part.provenance_bytes)), "rows 8 to 11");
  const Result<TgbFooter> footer = DecodeTgbFooter(object);
  ASSERT_THAT(footer, IsOk());
  EXPECT_THAT(CheckFooterOf(*footer, kIdentity.stream_id, packed.entry, part), IsOk());
  EXPECT_EQ(footer->provenance_hash, Hash64(options.provenance));
}

// Covers I10.
TEST(PackTest, SlicesOfAPartAreBoundToTheirPlacesInTheWholeGrid) {
  const std::vector<Bytes> slices = {ToBytes("a"), ToBytes("bc"), {}, Bytes(100)};
  const GlobalBatch batch = BatchOf({.dp = 2, .cp = 2}, slices);
  const PartTicket ticket{.identity = kIdentity, .grid = {.dp = 8, .cp = 4}, .content_type = "text/plain"};
  const GridRange range{.dp_begin = 3, .dp_count = 2, .cp_begin = 1, .cp_count = 2};
  const PackedPart packed = PackPart(ticket, {.range = range, .slices = batch}, 42);
  const Bytes object = Join(packed.object.pieces);
  EXPECT_EQ(packed.part.object_bytes, object.size());
  EXPECT_EQ(packed.trailers.size(), 4u);
  const Result<PartLayout> layout = PartLayout::Make(packed.part.range, packed.part.slice_bytes);
  ASSERT_THAT(layout, IsOk());
  for (uint32_t i = 0; i < 4; ++i) ExpectSlice(object, *layout, {3 + i % 2, 1 + i / 2}, slices[i]);
  EXPECT_EQ(DecodeTgbFooter(object)->grid, ticket.grid);
}

TEST(PackTest, UniformLengthsAreOneNumber) {
  const GlobalBatch batch = BatchOf({.dp = 4, .cp = 1}, std::vector<Bytes>(4, Bytes(100)));
  EXPECT_EQ(PackBatch(kIdentity, batch, {}, 1).entry.parts.front().slice_bytes, std::vector<uint64_t>{100});
}

TEST(PackTest, LengthsOfAHugeUnevenGridAreLeftToTheFooter) {
  std::vector<Bytes> slices(4096);
  for (size_t i = 0; i < slices.size(); ++i) slices[i].resize(i % 7);
  const GlobalBatch batch = BatchOf({.dp = 4096, .cp = 1}, slices);
  const PackedBatch packed = PackBatch(kIdentity, batch, {}, 1);
  EXPECT_TRUE(packed.entry.parts.front().slice_bytes.empty());
  EXPECT_EQ(DecodeTgbFooter(Join(packed.object.pieces))->slice_bytes.size(), 4096u);
}

TEST(PackTest, HandingOverBytesInAnotherWayPacksTheSameObject) {
  GlobalBatch copied({.dp = 1, .cp = 1});
  GlobalBatch moved({.dp = 1, .cp = 1});
  ASSERT_THAT(copied.SetCopy({}, AsBytes("the same")), IsOk());
  ASSERT_THAT(moved.Set({}, ToBytes("the same")), IsOk());
  const PackedBatch a = PackBatch(kIdentity, copied, {}, 1);
  const PackedBatch b = PackBatch(kIdentity, moved, {}, 1);
  EXPECT_EQ(Join(a.object.pieces), Join(b.object.pieces));
  EXPECT_EQ(a.entry, b.entry);
}

RC_GTEST_PROP(PackPropertyTest, AnyBatchIsReadBackSliceBySlice, ()) {
  const Grid grid{.dp = *rc::gen::inRange(1u, 6u), .cp = *rc::gen::inRange(1u, 4u)};
  std::vector<Bytes> slices(grid.slices());
  for (Bytes& slice : slices) slice.resize(*rc::gen::inRange<size_t>(0, 200), std::byte(*rc::gen::inRange(0, 255)));
  const GlobalBatch batch = BatchOf(grid, slices);
  const PackedBatch packed = PackBatch(kIdentity, batch, {}, 3);
  const Bytes object = Join(packed.object.pieces);
  const Part& part = packed.entry.parts.front();
  const Result<PartLayout> layout = PartLayout::Make(part.range, part.slice_bytes);
  RC_ASSERT(layout.ok());
  for (uint32_t i = 0; i < slices.size(); ++i) ExpectSlice(object, *layout, {i % grid.dp, i / grid.dp}, slices[i]);
}

}  // namespace
}  // namespace batchweave
