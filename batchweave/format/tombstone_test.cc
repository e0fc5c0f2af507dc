#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchweave/format/little_endian.h"
#include "batchweave/format/manifest.h"
#include "batchweave/testing/format_builders.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

const Tombstone kTombstone{.version = {7},
                           .commit_id = {{.high = 1, .low = 2}},
                           .hash = {.high = 3, .low = 4},
                           .previous_hash = {.high = 5, .low = 6}};

TEST(TombstoneTest, WhatWasEncodedIsDecoded) {
  EXPECT_THAT(DecodeTombstone(EncodeTombstone(kTombstone)), IsOkAndHolds(kTombstone));
}

TEST(TombstoneTest, IsTiny) { EXPECT_LE(EncodeTombstone(kTombstone).size(), 160u); }

TEST(TombstoneTest, AManifestIsNoTombstone) {
  EXPECT_THAT(DecodeTombstone(EncodeManifest(MakeManifest()).bytes),
              IsError(ErrorCode::kNotFound, HasSubstr("not a tombstone but a manifest")));
}

TEST(TombstoneTest, CutShortAtAnyByteIsCorrupt) {
  const Bytes object = EncodeTombstone(kTombstone);
  for (size_t size = 0; size < object.size(); ++size) {
    EXPECT_THAT(DecodeTombstone(ByteView(object).first(size)), IsError(ErrorCode::kCorrupt)) << size;
  }
}

TEST(TombstoneTest, AnyBitFlippedIsCorrupt) {
  Bytes object = EncodeTombstone(kTombstone);
  for (size_t bit = 0; bit < object.size() * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1 << (bit % 8));
    object[bit / 8] ^= mask;
    EXPECT_THAT(DecodeTombstone(object), IsError(ErrorCode::kCorrupt)) << bit;
    object[bit / 8] ^= mask;
  }
}

TEST(TombstoneTest, NewerFormatIsIncompatible) {
  Bytes object = EncodeTombstone(kTombstone);
  StoreLittleEndian(uint32_t{2}, object, 8);
  StoreLittleEndian(Hash64(ByteView(object).first(56)), object, 56);
  EXPECT_THAT(DecodeTombstone(object), IsError(ErrorCode::kIncompatible, HasSubstr("format=2 known=1")));
}

}  // namespace
}  // namespace batchweave
