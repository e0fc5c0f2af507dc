#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <set>

#include "batchweave/format/tgb.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/seeded_random.h"

namespace batchweave {
namespace {

constexpr GridRange kRange{.dp_begin = 4, .dp_count = 2, .cp_begin = 1, .cp_count = 2};
const TgbIdentity kIdentity{.stream_id = {{.high = 1, .low = 2}}, .producer = "p", .incarnation = {3}, .seq = 4};

TEST(PartLayoutTest, UniformSlicesFollowEachOtherAtOneStride) {
  const PartLayout layout = *PartLayout::Make(kRange, {56});
  EXPECT_EQ(layout.SliceOffset({.dp = 4, .cp = 1}), 0u);
  EXPECT_EQ(layout.SliceOffset({.dp = 5, .cp = 1}), 64u);
  EXPECT_EQ(layout.SliceOffset({.dp = 4, .cp = 2}), 128u);
  EXPECT_EQ(layout.SliceBytes({.dp = 5, .cp = 2}), 56u);
  EXPECT_EQ(layout.payload_end(), 256u);
  EXPECT_EQ(PartLayout::Make(kRange, {57})->payload_end(), 512u);
}

TEST(PartLayoutTest, SlicesOfTheirOwnLengthsLieWithCpOutermost) {
  const PartLayout layout = *PartLayout::Make(kRange, {0, 57, 200, 1});
  EXPECT_EQ(layout.SliceOffset({.dp = 4, .cp = 1}), 0u);
  EXPECT_EQ(layout.SliceOffset({.dp = 5, .cp = 1}), 64u);
  EXPECT_EQ(layout.SliceOffset({.dp = 4, .cp = 2}), 192u);
  EXPECT_EQ(layout.SliceBytes({.dp = 4, .cp = 2}), 200u);
  EXPECT_EQ(layout.SliceOffset({.dp = 5, .cp = 2}), 448u);
  EXPECT_EQ(layout.payload_end(), 512u);
}

RC_GTEST_PROP(PartLayoutProperty, EqualLengthsOneByOneLieAsUniformOnes, (uint32_t size_bytes)) {
  const PartLayout uniform = *PartLayout::Make(kRange, {size_bytes});
  const PartLayout each = *PartLayout::Make(kRange, std::vector<uint64_t>(4, size_bytes));
  for (const Coordinate at : std::array<Coordinate, 4>{{{4, 1}, {5, 1}, {4, 2}, {5, 2}}}) {
    RC_ASSERT(uniform.SliceOffset(at) == each.SliceOffset(at));
    RC_ASSERT(uniform.SliceOffset(at) % kSliceAlignment == 0u);
  }
  RC_ASSERT(uniform.payload_end() == each.payload_end());
}

TEST(PartLayoutTest, LengthsThatDoNotFitAreCorrupt) {
  EXPECT_THAT(PartLayout::Make(kRange, {}), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(PartLayout::Make(kRange, {1, 2, 3}), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(PartLayout::Make(kRange, {1, 2, 3, 4, 5}), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(PartLayout::Make({.dp_begin = 0, .dp_count = 0, .cp_begin = 0, .cp_count = 1}, {1}),
              IsError(ErrorCode::kCorrupt));
  const uint32_t all = UINT32_MAX;
  EXPECT_THAT(PartLayout::Make({.dp_begin = 0, .dp_count = all, .cp_begin = 0, .cp_count = all}, {1}),
              IsError(ErrorCode::kCorrupt));
}

TEST(PartLayoutTest, LengthsWhoseSumOverflowsAreCorrupt) {
  for (const uint64_t huge : {UINT64_MAX, UINT64_MAX - 8, uint64_t{1} << 62}) {
    EXPECT_THAT(PartLayout::Make(kRange, {huge}), IsError(ErrorCode::kCorrupt));
    EXPECT_THAT(PartLayout::Make(kRange, {0, 0, 0, huge}), IsError(ErrorCode::kCorrupt));
  }
}

TEST(PartLayoutTest, SlicesOfTwoGibibytesAreOrdinary) {
  EXPECT_EQ(PartLayout::Make(kRange, {uint64_t{2} << 30})->payload_end(), 4 * ((uint64_t{2} << 30) + 64));
}

TEST(PartLayoutDeathTest, ACoordinateOutsideIsABug) {
  const PartLayout layout = *PartLayout::Make(kRange, {1});
  EXPECT_DEATH(static_cast<void>(layout.SliceOffset({.dp = 3, .cp = 1})), "bug");
  EXPECT_DEATH(static_cast<void>(layout.SliceBytes({.dp = 4, .cp = 3})), "bug");
}

// Covers I10.
TEST(SliceTrailerTest, TellsEveryOtherPlaceAndContentApart) {
  std::vector<TgbIdentity> identities(6, kIdentity);
  identities[1].stream_id.bits.high = 9;
  identities[2].stream_id.bits.low = 9;
  identities[3].producer = "q";
  identities[4].incarnation = {9};
  identities[5].seq = 9;
  std::set<uint64_t> trailers;
  for (const TgbIdentity& identity : identities) trailers.insert(SliceTrailer(identity, {.dp = 5, .cp = 6}, 7, 8));
  trailers.insert(SliceTrailer(kIdentity, {.dp = 6, .cp = 5}, 7, 8));
  trailers.insert(SliceTrailer(kIdentity, {.dp = 5, .cp = 7}, 7, 8));
  trailers.insert(SliceTrailer(kIdentity, {.dp = 5, .cp = 6}, 9, 8));
  trailers.insert(SliceTrailer(kIdentity, {.dp = 5, .cp = 6}, 7, 9));
  EXPECT_EQ(trailers.size(), identities.size() + 4);
}

TEST(SliceTrailerTest, LiesLittleEndian) {
  std::array<std::byte, kTrailerBytes> bytes;
  StoreTrailer(0x0102030405060708, bytes);
  EXPECT_EQ(ToHex(bytes), "0807060504030201");
  EXPECT_EQ(LoadTrailer(bytes), 0x0102030405060708u);
}

TEST(SliceTrailerTest, DigestDependsOnTheOrder) {
  EXPECT_NE(DigestOfTrailers(std::array<uint64_t, 2>{1, 2}), DigestOfTrailers(std::array<uint64_t, 2>{2, 1}));
}

}  // namespace
}  // namespace batchweave
