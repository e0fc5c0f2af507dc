#include "examples/demo/data/slice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchweave/testing/matchers.h"
#include "examples/demo/data/wire.h"

namespace batchweave::demo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// A sample of a picture of 20 x 20 pixels (four patches) and three tokens of text.
Sample PictureSample() {
  Image image{.width = 20, .height = 20, .channels = 3, .pixels = std::vector<uint8_t>(1200)};
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<uint8_t>(i % 251);
  const uint16_t p = kPatchToken;
  return {.id = "picture@0", .tokens = {p, p, p, p, 10, 11, 2}, .patches = CutInPatches(image)};
}

Sample TextSample() { return {.id = "text@0", .tokens = {20, 21, 2}, .patches = {}}; }

TEST(PatchTest, CoverTheImageExactlyOnce) {
  const Sample sample = PictureSample();
  ByteView rest(sample.patches.bytes);
  std::vector<std::pair<uint32_t, uint32_t>> sizes;
  while (!rest.empty()) {
    const Patch patch = TakePatch(rest).value();
    sizes.emplace_back(patch.width, patch.height);
  }
  EXPECT_THAT(sizes, ElementsAre(std::pair(16, 16), std::pair(4, 16), std::pair(16, 4), std::pair(4, 4)));
}

TEST(PatchTest, PixelsAreThoseOfTheirPlace) {
  const Sample sample = PictureSample();
  ByteView rest = sample.PatchBytes(1, 2);
  const Patch patch = TakePatch(rest).value();
  EXPECT_TRUE(rest.empty());
  // Row 1 of the second patch begins at pixel (16, 1) of the image.
  EXPECT_EQ(patch.pixels[12], static_cast<std::byte>((1 * 20 + 16) * 3 % 251));
}

TEST(SliceTest, HoldsWhatWasAppended) {
  SliceBuilder builder(12);
  EXPECT_EQ(builder.Append(PictureSample(), 0), 7u);
  EXPECT_EQ(builder.Append(TextSample(), 0), 3u);
  const Bytes bytes = builder.Finish();
  const Result<Slice> slice = DecodeSlice(bytes);
  ASSERT_THAT(slice, IsOk());
  const uint16_t p = kPatchToken;
  EXPECT_THAT(slice->tokens, ElementsAre(p, p, p, p, 10, 11, 2, 20, 21, 2, kPadToken, kPadToken));
  EXPECT_THAT(slice->spans, ElementsAre(SampleSpan{"picture@0", 0, 0, 7, 7}, SampleSpan{"text@0", 7, 0, 3, 3}));
  EXPECT_THAT(slice->patches, SizeIs(4));
}

TEST(SliceTest, SampleThatDoesNotFitGoesOnInTheNext) {
  SliceBuilder builder(3);
  EXPECT_EQ(builder.Append(PictureSample(), 0), 3u);
  builder.Finish();
  EXPECT_EQ(builder.Append(PictureSample(), 3), 6u);
  const Bytes bytes = builder.Finish();
  const Slice slice = DecodeSlice(bytes).value();
  EXPECT_THAT(slice.tokens, ElementsAre(kPatchToken, 10, 11));
  EXPECT_THAT(slice.spans, ElementsAre(SampleSpan{"picture@0", 0, 3, 6, 7}));
  ASSERT_THAT(slice.patches, SizeIs(1));
  EXPECT_EQ(slice.patches[0].width, 4u);
}

TEST(SliceTest, EmptySliceIsAllPadding) {
  const Bytes bytes = SliceBuilder(2).Finish();
  EXPECT_THAT(DecodeSlice(bytes).value().tokens, ElementsAre(kPadToken, kPadToken));
}

Bytes GoodSlice() {
  SliceBuilder builder(11);
  builder.Append(PictureSample(), 0);
  builder.Append(TextSample(), 0);
  return builder.Finish();
}

TEST(SliceTest, SliceCutShortAnywhereIsCorrupt) {
  const Bytes bytes = GoodSlice();
  for (size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_THAT(DecodeSlice(ByteView(bytes).first(size)), IsError(ErrorCode::kCorrupt)) << "size=" << size;
  }
}

TEST(SliceTest, SliceWithMoreBehindItIsCorrupt) {
  Bytes bytes = GoodSlice();
  bytes.push_back(std::byte{0});
  EXPECT_THAT(DecodeSlice(bytes), IsError(ErrorCode::kCorrupt));
}

TEST(SliceTest, AlteredByteIsCorruptOrContentButNeverACrash) {
  const Bytes bytes = GoodSlice();
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int bit : {0, 3, 7}) {
      Bytes altered = bytes;
      altered[i] ^= static_cast<std::byte>(1 << bit);
      const Result<Slice> slice = DecodeSlice(altered);
      EXPECT_TRUE(slice.ok() || FailedWith(slice, ErrorCode::kCorrupt));
    }
  }
}

// A slice of two positions, both of them of one text, whose span table is given.
Bytes SliceWithSpans(const std::vector<SampleSpan>& spans, const std::vector<uint16_t>& tokens) {
  Writer table;
  for (const SampleSpan& span : spans) {
    for (const uint32_t number : {span.at, span.begin, span.end, span.length}) table.PutU32(number);
    table.PutText(span.id);
  }
  Writer slice;
  slice.PutBytes(AsBytes("BWDEMO01"));
  slice.PutU32(static_cast<uint32_t>(tokens.size()));
  slice.PutU32(static_cast<uint32_t>(table.bytes().size()));
  slice.PutU32(0);
  slice.PutU32(0);
  for (const uint16_t token : tokens) slice.PutU16(token);
  slice.PutBytes(table.bytes());
  return std::move(slice).Take();
}

TEST(SliceTest, SpansThatCannotBeAreCorrupt) {
  ASSERT_THAT(DecodeSlice(SliceWithSpans({{"a", 0, 0, 2, 2}}, {7, 7})), IsOk());
  const std::vector<std::vector<SampleSpan>> impossible = {
      {{"a", 0, 0, 2, 1}},                     // ends behind its sample
      {{"a", 0, 1, 1, 2}, {"a", 0, 0, 2, 2}},  // empty
      {{"a", 0, 2, 0, 2}},                     // backwards
      {{"a", 1, 0, 2, 2}},                     // ends behind the slice
      {{"a", 0xFFFFFFFF, 0, 2, 2}},            // far behind it
      {{"a", 0, 0, 0xFFFFFFFF, 0xFFFFFFFF}},   // longer than it
      {{"a", 0, 0, 2, 2}, {"b", 1, 0, 1, 1}},  // overlap
      {{"b", 1, 0, 1, 1}, {"a", 0, 0, 1, 1}},  // out of order
      {{"a", 0, 0, 1, 1}},                     // leave a token to nobody
  };
  for (const std::vector<SampleSpan>& spans : impossible) {
    EXPECT_THAT(DecodeSlice(SliceWithSpans(spans, {7, 7})), IsError(ErrorCode::kCorrupt));
  }
}

TEST(SliceTest, PaddingInASampleAndPatchesWithoutPixelsAreCorrupt) {
  EXPECT_THAT(DecodeSlice(SliceWithSpans({{"a", 0, 0, 2, 2}}, {7, kPadToken})),
              IsError(ErrorCode::kCorrupt, HasSubstr("padding")));
  EXPECT_THAT(DecodeSlice(SliceWithSpans({{"a", 0, 0, 2, 2}}, {kPatchToken, 7})),
              IsError(ErrorCode::kCorrupt, HasSubstr("patches")));
}

}  // namespace
}  // namespace batchweave::demo
