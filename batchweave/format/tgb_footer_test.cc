#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>

#include "batchweave/format/little_endian.h"
#include "batchweave/format/tgb.h"
#include "batchweave/testing/format_builders.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/seeded_random.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

constexpr StreamId kStream{{.high = 1, .low = 2}};

TgbFooter MakeFooter() {
  return {.identity = {.stream_id = kStream, .producer = "p", .incarnation = {1}, .seq = 1},
          .grid = {.dp = 4, .cp = 2},
          .range = WholeOf({.dp = 4, .cp = 2}),
          .slice_bytes = {1, 2, 3, 4, 5, 6, 7, 8},
          .digest = {.high = 1, .low = 7},
          .content_type = "application/octet-stream"};
}

// The entry whose one part the object of MakeFooter is, with its lengths left to the footer.
Entry MakeEntryOfFooter() {
  Entry entry = MakeEntry("p", 1);
  Part& part = entry.parts.front();
  part.footer_bytes = static_cast<uint32_t>(EncodeTgbFooter(MakeFooter()).size());
  part.slice_bytes = MakeFooter().slice_bytes;
  FillObjectBytes(part);
  part.slice_bytes.clear();
  return entry;
}

// `footer` with other 4 bytes in its tail at `offset`, and the tail's checksum made to fit.
Bytes WithTail(Bytes footer, size_t offset, uint32_t value) {
  const auto tail = MutableByteView(footer).last(kFooterTailBytes);
  StoreLittleEndian(value, tail, offset);
  StoreLittleEndian(Hash64(ByteView(tail).first(16)), tail, 16);
  return footer;
}

RC_GTEST_PROP(TgbFooterProperty, WhatWasEncodedIsDecoded, (uint64_t seed)) {
  SeededRandom random(seed);
  const TgbFooter footer = ArbitraryFooter(random, *rc::gen::inRange<size_t>(0, 64));
  const Bytes encoded = EncodeTgbFooter(footer);
  RC_ASSERT(*FooterBytes(encoded) == encoded.size());
  const Result<TgbFooter> decoded = DecodeTgbFooter(encoded);
  RC_ASSERT(decoded.ok());
  RC_ASSERT(*decoded == footer);
}

TEST(TgbFooterTest, IsFoundAtTheEndOfAWholeObject) {
  const Bytes footer = EncodeTgbFooter(MakeFooter());
  for (const size_t payload_bytes : {0, 1, 3, 64}) {
    Bytes object(payload_bytes, std::byte{0xee});
    object.insert(object.end(), footer.begin(), footer.end());
    EXPECT_THAT(DecodeTgbFooter(object), IsOkAndHolds(MakeFooter()));
    EXPECT_THAT(FooterBytes(ByteView(object).last(kFooterTailBytes)), IsOkAndHolds(footer.size()));
  }
}

TEST(TgbFooterTest, LargestGridHasItsFooter) {
  TgbFooter footer = MakeFooter();
  footer.grid = {.dp = 4096, .cp = 16};
  footer.range = WholeOf(footer.grid);
  footer.slice_bytes.assign(kGridSlicesMax, 0);
  for (size_t i = 0; i < footer.slice_bytes.size(); i += 2) footer.slice_bytes[i] = uint64_t{1} << 40;
  EXPECT_THAT(DecodeTgbFooter(EncodeTgbFooter(footer)), IsOkAndHolds(footer));
}

TEST(TgbFooterTest, CutShortAnywhereIsCorrupt) {
  const Bytes footer = EncodeTgbFooter(MakeFooter());
  for (size_t size = 0; size < footer.size(); ++size) {
    EXPECT_THAT(DecodeTgbFooter(ByteView(footer).first(size)), IsError(ErrorCode::kCorrupt)) << size;
    EXPECT_THAT(DecodeTgbFooter(ByteView(footer).last(size)), IsError(ErrorCode::kCorrupt)) << size;
  }
}

TEST(TgbFooterTest, AnyBitFlippedIsCorrupt) {
  Bytes footer = EncodeTgbFooter(MakeFooter());
  for (size_t bit = 0; bit < footer.size() * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1 << (bit % 8));
    footer[bit / 8] ^= mask;
    EXPECT_THAT(DecodeTgbFooter(footer), IsError(ErrorCode::kCorrupt)) << bit;
    footer[bit / 8] ^= mask;
  }
}

TEST(TgbFooterTest, NewerFormatIsIncompatible) {
  EXPECT_THAT(DecodeTgbFooter(WithTail(EncodeTgbFooter(MakeFooter()), 12, 2)),
              IsError(ErrorCode::kIncompatible, HasSubstr("format=2 known=1")));
}

TEST(TgbFooterTest, HostileLengthsAllocateNothing) {
  const Bytes footer = EncodeTgbFooter(MakeFooter());
  for (const uint32_t index_bytes : {uint32_t{0}, uint32_t{4}, static_cast<uint32_t>(footer.size()), UINT32_MAX}) {
    EXPECT_THAT(DecodeTgbFooter(WithTail(footer, 8, index_bytes)), IsError(ErrorCode::kCorrupt));
  }
}

TEST(TgbFooterTest, ForeignObjectIsCorrupt) {
  EXPECT_THAT(DecodeTgbFooter(Bytes(1000)), IsError(ErrorCode::kCorrupt, HasSubstr("does not end in")));
}

TEST(CheckFooterOfTest, AcceptsTheOneOfTheEntry) {
  const Entry entry = MakeEntryOfFooter();
  EXPECT_THAT(CheckFooterOf(MakeFooter(), kStream, entry, entry.parts.front()), IsOk());
}

TEST(CheckFooterOfTest, RefusesEveryOther) {
  const Entry entry = MakeEntryOfFooter();
  const std::vector<std::function<void(TgbFooter&)>> changes = {
      [](TgbFooter& f) { f.identity.stream_id.bits.low = 9; },
      [](TgbFooter& f) { f.identity.producer = "q"; },
      [](TgbFooter& f) { f.identity.incarnation = {2}; },
      [](TgbFooter& f) { f.identity.seq = 2; },
      [](TgbFooter& f) { f.grid = {.dp = 8, .cp = 2}; },
      [](TgbFooter& f) { f.range.dp_count = 2; },
      [](TgbFooter& f) { f.slice_bytes = {100}; },
      [](TgbFooter& f) { f.content_type = "text/plain"; },
      [](TgbFooter& f) { f.schema_hash = 1; },
      [](TgbFooter& f) { f.provenance_bytes = 1; },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    TgbFooter footer = MakeFooter();
    changes[i](footer);
    EXPECT_THAT(CheckFooterOf(footer, kStream, entry, entry.parts.front()), IsError(ErrorCode::kCorrupt)) << i;
  }
}

TEST(CheckProvenanceOfTest, AcceptsTheBlockOfTheFooterAndNoOther) {
  TgbFooter footer = MakeFooter();
  const Bytes provenance = ToBytes("rows 8 to 11");
  footer.provenance_bytes = static_cast<uint32_t>(provenance.size());
  footer.provenance_hash = Hash64(provenance);
  EXPECT_THAT(CheckProvenanceOf(footer, provenance), IsOk());
  EXPECT_THAT(CheckProvenanceOf(footer, ToBytes("rows 8 to 12")), IsError(ErrorCode::kCorrupt, HasSubstr("checksum")));
  EXPECT_THAT(CheckProvenanceOf(footer, {}), IsError(ErrorCode::kCorrupt, HasSubstr("another length")));
  EXPECT_THAT(CheckProvenanceOf({}, {}), IsOk());
}

TEST(CheckFooterOfTest, RefusesOtherLengthsThanTheEntrysOwn) {
  Entry entry = MakeEntryOfFooter();
  entry.parts.front().slice_bytes = {8, 7, 6, 5, 4, 3, 2, 1};
  EXPECT_THAT(CheckFooterOf(MakeFooter(), kStream, entry, entry.parts.front()),
              IsError(ErrorCode::kCorrupt, HasSubstr("other slice lengths")));
}

}  // namespace
}  // namespace batchweave
