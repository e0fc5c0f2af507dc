#include "batchweave/consumer/read_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "batchweave/format/tgb.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

Part MakePart(GridRange range, std::vector<uint64_t> slice_bytes, uint64_t nonce = 1) {
  const uint64_t end = PartLayout::Make(range, slice_bytes).value().payload_end();
  return {.nonce = nonce,
          .range = range,
          .slice_bytes = std::move(slice_bytes),
          .object_bytes = end + 100,
          .footer_bytes = 100};
}

TEST(ReadPlanTest, OneSliceIsOneReadThatEndsWithItsTrailer) {
  const Part part = MakePart(WholeOf({.dp = 4, .cp = 2}), {100});
  const ReadPlan plan = MakeReadPlan({&part, 1}, {.dp_begin = 1, .dp_count = 1, .cp_begin = 1, .cp_count = 1}).value();
  ASSERT_EQ(plan.reads.size(), 1u);
  EXPECT_EQ(plan.reads[0].offset, 5 * 128u);
  EXPECT_EQ(plan.reads[0].size_bytes, 108u);
  EXPECT_EQ(plan.slices[0].at, (Coordinate{.dp = 1, .cp = 1}));
}

TEST(ReadPlanTest, SeveralDpSlicesAreOneReadAndSeveralCpSlicesOneEach) {
  const Part part = MakePart(WholeOf({.dp = 4, .cp = 2}), {100});
  const ReadPlan plan = MakeReadPlan({&part, 1}, {.dp_begin = 2, .dp_count = 2, .cp_begin = 0, .cp_count = 2}).value();
  ASSERT_EQ(plan.reads.size(), 2u);
  EXPECT_EQ(plan.reads[0].offset, 2 * 128u);
  EXPECT_EQ(plan.reads[1].offset, 6 * 128u);
  EXPECT_EQ(plan.reads[1].size_bytes, 128u + 108u);
  EXPECT_EQ(plan.reads[1].first_slice, 2u);
  EXPECT_EQ(plan.reads[1].slice_count, 2u);
}

TEST(ReadPlanTest, AllOfAnObjectIsOneRead) {
  const Part part = MakePart(WholeOf({.dp = 4, .cp = 2}), {100});
  EXPECT_EQ(MakeReadPlan({&part, 1}, WholeOf({.dp = 4, .cp = 2})).value().reads.size(), 1u);
}

TEST(ReadPlanTest, PartsAreReadEachFromItsObject) {
  const std::vector<Part> parts = {MakePart({.dp_begin = 2, .dp_count = 2, .cp_begin = 0, .cp_count = 1}, {10, 20}, 2),
                                   MakePart({.dp_begin = 0, .dp_count = 2, .cp_begin = 0, .cp_count = 1}, {100}, 1)};
  const ReadPlan plan = MakeReadPlan(parts, WholeOf({.dp = 4, .cp = 1})).value();
  ASSERT_EQ(plan.reads.size(), 2u);
  EXPECT_EQ(plan.reads[0].nonce, 1u);
  EXPECT_EQ(plan.reads[1].nonce, 2u);
  EXPECT_EQ(plan.slices[3].size_bytes, 20u);
}

TEST(ReadPlanTest, EmptySlicesAloneAreNotRead) {
  const Part part = MakePart(WholeOf({.dp = 4, .cp = 1}), {0, 0, 7, 0});
  EXPECT_TRUE(MakeReadPlan({&part, 1}, {.dp_begin = 0, .dp_count = 2, .cp_begin = 0, .cp_count = 1})->reads.empty());
  EXPECT_EQ(MakeReadPlan({&part, 1}, WholeOf({.dp = 4, .cp = 1}))->reads.size(), 1u);
}

TEST(ReadPlanTest, NothingWantedIsNothingRead) {
  const Part part = MakePart(WholeOf({.dp = 2, .cp = 1}), {100});
  const ReadPlan plan = MakeReadPlan({&part, 1}, {.dp_begin = 1, .dp_count = 0, .cp_begin = 0, .cp_count = 1}).value();
  EXPECT_TRUE(plan.slices.empty() && plan.reads.empty());
}

TEST(ReadPlanTest, APartThatDoesNotHoldItsSlicesIsCorrupt) {
  Part part = MakePart(WholeOf({.dp = 2, .cp = 1}), {100});
  EXPECT_THAT(MakeReadPlan({&part, 1}, WholeOf({.dp = 3, .cp = 1})), IsError(ErrorCode::kCorrupt, HasSubstr("dp=2")));
  part.object_bytes = 200;
  EXPECT_THAT(MakeReadPlan({&part, 1}, WholeOf({.dp = 2, .cp = 1})), IsError(ErrorCode::kCorrupt, HasSubstr("beyond")));
}

TEST(ReadPlanTest, TheLargestSliceAndTheLargestGridArePlanned) {
  const Part large = MakePart(WholeOf({.dp = 2, .cp = 1}), {uint64_t{2} << 30});
  EXPECT_EQ(MakeReadPlan({&large, 1}, WholeOf({.dp = 2, .cp = 1}))->reads[0].size_bytes, (uint64_t{4} << 30) + 64 + 8);
  const Part many = MakePart(WholeOf({.dp = 4096, .cp = 1}), {1});
  EXPECT_EQ(MakeReadPlan({&many, 1}, WholeOf({.dp = 4096, .cp = 1}))->slices.size(), 4096u);
}

// Covers I10.
RC_GTEST_PROP(ReadPlanTest, ReadsHoldEverySliceThatHasBytesOnceAndInOrder, ()) {
  const Grid grid{.dp = *rc::gen::inRange<uint32_t>(1, 8), .cp = *rc::gen::inRange<uint32_t>(1, 4)};
  const auto sizes = *rc::gen::container<std::vector<uint64_t>>(grid.slices(), rc::gen::inRange<uint64_t>(0, 200));
  const Part part = MakePart(WholeOf(grid), sizes);
  GridRange wanted{};
  wanted.dp_begin = *rc::gen::inRange<uint32_t>(0, grid.dp);
  wanted.dp_count = *rc::gen::inRange<uint32_t>(1, grid.dp - wanted.dp_begin + 1);
  wanted.cp_begin = *rc::gen::inRange<uint32_t>(0, grid.cp);
  wanted.cp_count = *rc::gen::inRange<uint32_t>(1, grid.cp - wanted.cp_begin + 1);
  const ReadPlan plan = MakeReadPlan({&part, 1}, wanted).value();
  RC_ASSERT(plan.slices.size() == wanted.slices());
  RC_ASSERT(plan.reads.size() <= wanted.cp_count);
  std::vector<int> reads(plan.slices.size());
  for (const PlannedRead& read : plan.reads) {
    for (size_t i = read.first_slice; i < read.first_slice + read.slice_count; ++i) {
      const PlannedSlice& slice = plan.slices[i];
      RC_ASSERT(slice.offset >= read.offset);
      RC_ASSERT(slice.offset + slice.size_bytes + kTrailerBytes <= read.offset + read.size_bytes);
      ++reads[i];
    }
  }
  for (size_t i = 0; i < reads.size(); ++i)
    RC_ASSERT(reads[i] == 1 || (reads[i] == 0 && plan.slices[i].size_bytes == 0));
}

TEST(ReadPlanTest, TheEstimateIsTheShareOfEachObject) {
  const std::vector<Part> parts = {MakePart({.dp_begin = 0, .dp_count = 2, .cp_begin = 0, .cp_count = 1}, {1000}),
                                   MakePart({.dp_begin = 2, .dp_count = 2, .cp_begin = 0, .cp_count = 1}, {5000})};
  const uint64_t bytes = EstimateReadBytes(parts, {.dp_begin = 1, .dp_count = 2, .cp_begin = 0, .cp_count = 1});
  EXPECT_GE(bytes, 6000u);
  EXPECT_LE(bytes, 6400u);
}

}  // namespace
}  // namespace batchweave
