#include "batchweave/producer/global_batch.h"

#include <gtest/gtest.h>

#include <memory>

#include "batchweave/format/entry.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

TEST(GlobalBatchTest, HoldsSlicesHoweverTheyWereHandedOver) {
  GlobalBatch batch({.dp = 3, .cp = 1});
  // Shared: what SetReference takes.
  const auto owner = std::make_shared<const Bytes>(ToBytes("referenced"));
  ASSERT_THAT(batch.Set({.dp = 0}, ToBytes("moved")), IsOk());
  ASSERT_THAT(batch.SetCopy({.dp = 1}, AsBytes("copied")), IsOk());
  ASSERT_THAT(batch.SetReference({.dp = 2}, *owner, owner), IsOk());
  EXPECT_THAT(batch.CheckComplete(), IsOk());
  EXPECT_EQ(AsText(batch.contents()[0].bytes), "moved");
  EXPECT_EQ(AsText(batch.contents()[1].bytes), "copied");
  EXPECT_EQ(batch.contents()[1].hash, Hash64(AsBytes("copied")));
  EXPECT_EQ(batch.contents()[2].bytes.data(), owner->data());
  EXPECT_EQ(batch.size_bytes(), 21u);
}

TEST(GlobalBatchTest, LayoutHasContextParallelOutermost) {
  GlobalBatch batch({.dp = 2, .cp = 2});
  ASSERT_THAT(batch.SetCopy({.dp = 1, .cp = 0}, AsBytes("b")), IsOk());
  ASSERT_THAT(batch.SetCopy({.dp = 0, .cp = 1}, AsBytes("c")), IsOk());
  EXPECT_EQ(AsText(batch.contents()[1].bytes), "b");
  EXPECT_EQ(AsText(batch.contents()[2].bytes), "c");
}

TEST(GlobalBatchTest, SliceSetTwiceIsRefusedAndTheFirstStays) {
  GlobalBatch batch({.dp = 1, .cp = 1});
  ASSERT_THAT(batch.SetCopy({}, AsBytes("first")), IsOk());
  EXPECT_THAT(batch.Set({}, ToBytes("second")), IsError(ErrorCode::kInvalidArgument, HasSubstr("twice: dp=0 cp=0")));
  EXPECT_EQ(AsText(batch.contents()[0].bytes), "first");
}

TEST(GlobalBatchTest, SliceOutsideTheGridIsRefused) {
  GlobalBatch batch({.dp = 2, .cp = 1});
  EXPECT_THAT(batch.Set({.dp = 2}, {}), IsError(ErrorCode::kInvalidArgument, HasSubstr("dp=2 cp=0 grid=2x1")));
  EXPECT_THAT(batch.Set({.cp = 1}, {}), IsError(ErrorCode::kInvalidArgument));
}

TEST(GlobalBatchTest, MissingSliceIsNamed) {
  GlobalBatch batch({.dp = 2, .cp = 2});
  for (const Coordinate at : {Coordinate{0, 0}, Coordinate{1, 0}, Coordinate{0, 1}}) {
    ASSERT_THAT(batch.Set(at, {}), IsOk());
  }
  EXPECT_THAT(batch.CheckComplete(), IsError(ErrorCode::kInvalidArgument, HasSubstr("missing: dp=1 cp=1")));
}

TEST(GlobalBatchTest, ImpossibleGridIsRefused) {
  for (const Grid grid : {Grid{0, 1}, Grid{1, 0}, Grid{1u << 16, 2}, Grid{~0u, ~0u}}) {
    GlobalBatch batch(grid);
    EXPECT_THAT(batch.Set({}, {}), IsError(ErrorCode::kInvalidArgument));
    EXPECT_THAT(batch.CheckComplete(), IsError(ErrorCode::kInvalidArgument));
  }
}

TEST(GlobalBatchTest, OverlongContentTypeIsRefused) {
  GlobalBatch batch({.dp = 1, .cp = 1}, {.content_type = std::string(kContentTypeBytesMax + 1, 'x')});
  ASSERT_THAT(batch.Set({}, {}), IsOk());
  EXPECT_THAT(batch.CheckComplete(), IsError(ErrorCode::kInvalidArgument, HasSubstr("bytes=256 max=255")));
}

}  // namespace
}  // namespace batchweave
