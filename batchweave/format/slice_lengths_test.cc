#include "batchweave/format/slice_lengths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::ElementsAre;

Result<std::vector<uint64_t>> Take(std::span<const uint8_t> encoded, uint64_t count) {
  return TakeSliceLengths(encoded, count);
}

RC_GTEST_PROP(SliceLengthsProperty, WhatWasAppendedIsTaken, (const std::vector<uint64_t>& lengths)) {
  std::vector<uint8_t> encoded;
  AppendSliceLengths(lengths, encoded);
  RC_ASSERT(encoded.size() == SliceLengthsBytes(lengths));
  encoded.push_back(0x80);
  std::span<const uint8_t> left(encoded);
  const Result<std::vector<uint64_t>> taken = TakeSliceLengths(left, lengths.size());
  RC_ASSERT(taken.ok());
  RC_ASSERT(*taken == lengths);
  RC_ASSERT(left.size() == 1u);
}

TEST(SliceLengthsTest, AreDifferencesInGroupsOfSevenBits) {
  std::vector<uint8_t> encoded;
  AppendSliceLengths(std::array<uint64_t, 4>{100, 99, 99, 300}, encoded);
  EXPECT_THAT(encoded, ElementsAre(0xc8, 0x01, 0x01, 0x00, 0x92, 0x03));
}

TEST(SliceLengthsTest, LargestDifferencesHaveTheirPlace) {
  const std::array<uint64_t, 4> lengths = {UINT64_MAX, 0, uint64_t{1} << 63, 1};
  std::vector<uint8_t> encoded;
  AppendSliceLengths(lengths, encoded);
  EXPECT_THAT(Take(encoded, 4), IsOkAndHolds(::testing::ElementsAreArray(lengths)));
}

TEST(SliceLengthsTest, TooFewBytesAreCorrupt) {
  EXPECT_THAT(Take({}, 1), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(Take(std::array<uint8_t, 2>{0x80, 0x80}, 1), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(Take(std::array<uint8_t, 2>{0x80, 0x00}, 2), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(Take(std::array<uint8_t, 1>{0x00}, UINT64_MAX), IsError(ErrorCode::kCorrupt));
}

TEST(SliceLengthsTest, ANumberBeyond64BitsIsCorrupt) {
  std::array<uint8_t, 10> encoded;
  encoded.fill(0xff);
  encoded.back() = 0x01;
  EXPECT_THAT(Take(encoded, 1), IsOk());
  encoded.back() = 0x02;
  EXPECT_THAT(Take(encoded, 1), IsError(ErrorCode::kCorrupt));
  encoded.back() = 0x81;
  EXPECT_THAT(Take(encoded, 1), IsError(ErrorCode::kCorrupt));
}

}  // namespace
}  // namespace batchweave
