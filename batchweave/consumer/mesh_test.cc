#include "batchweave/consumer/mesh.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

// How many coordinates of the mesh `dp` x `cp` read each slice of `grid`.
std::vector<int> CountReaders(Grid grid, uint32_t dp, uint32_t cp, bool allow_uneven) {
  std::vector<int> readers(grid.slices());
  for (uint32_t dp_rank = 0; dp_rank < dp; ++dp_rank) {
    for (uint32_t cp_rank = 0; cp_rank < cp; ++cp_rank) {
      const MeshRank rank{.dp_rank = dp_rank, .dp_size = dp, .cp_rank = cp_rank, .cp_size = cp};
      const GridRange range = SlicesOf(grid, rank, allow_uneven).value();
      for (uint32_t i = 0; i < range.slices(); ++i) {
        const uint32_t at_dp = range.dp_begin + i % range.dp_count;
        const uint32_t at_cp = range.cp_begin + i / range.dp_count;
        ++readers[size_t{at_cp} * grid.dp + at_dp];
      }
    }
  }
  return readers;
}

// Covers G1, G3.
RC_GTEST_PROP(MeshTest, EverySliceIsReadByExactlyOneCoordinateOfAMeshThatDividesTheGrid, ()) {
  const auto dp = *rc::gen::inRange<uint32_t>(1, 9);
  const auto cp = *rc::gen::inRange<uint32_t>(1, 5);
  const Grid grid{.dp = dp * *rc::gen::inRange<uint32_t>(1, 9), .cp = cp * *rc::gen::inRange<uint32_t>(1, 5)};
  RC_ASSERT(CountReaders(grid, dp, cp, /*allow_uneven=*/false) == std::vector<int>(grid.slices(), 1));
}

// Covers G1, G3.
RC_GTEST_PROP(MeshTest, EverySliceIsReadByExactlyOneCoordinateOfAnUnevenMesh, ()) {
  const auto dp = *rc::gen::inRange<uint32_t>(1, 20);
  const auto cp = *rc::gen::inRange<uint32_t>(1, 5);
  const Grid grid{.dp = *rc::gen::inRange<uint32_t>(1, 40), .cp = cp * *rc::gen::inRange<uint32_t>(1, 5)};
  RC_ASSERT(CountReaders(grid, dp, cp, /*allow_uneven=*/true) == std::vector<int>(grid.slices(), 1));
}

RC_GTEST_PROP(MeshTest, UnevenRanksDifferByOneSliceAtMost, ()) {
  const auto dp = *rc::gen::inRange<uint32_t>(1, 20);
  const Grid grid{.dp = *rc::gen::inRange<uint32_t>(1, 40), .cp = 1};
  for (uint32_t rank = 0; rank < dp; ++rank) {
    const GridRange range = SlicesOf(grid, {.dp_rank = rank, .dp_size = dp}, /*allow_uneven=*/true).value();
    RC_ASSERT(range.dp_count == grid.dp / dp || range.dp_count == grid.dp / dp + 1);
  }
}

// Covers G3.
TEST(MeshTest, AMeshThatDoesNotDivideTheGridIsRefusedWithTheSizesThatFit) {
  EXPECT_THAT(SlicesOf({.dp = 4, .cp = 2}, {.dp_rank = 0, .dp_size = 3}, false),
              IsError(ErrorCode::kMeshMismatch, "a mesh of dp=3 does not divide a grid of dp=4: dp=2 or 4 would fit"));
  EXPECT_THAT(SlicesOf({.dp = 4, .cp = 2}, {.dp_rank = 0, .dp_size = 8}, false),
              IsError(ErrorCode::kMeshMismatch, HasSubstr("dp=4 would fit")));
  EXPECT_THAT(SlicesOf({.dp = 4, .cp = 2}, {.dp_rank = 0, .dp_size = 4, .cp_rank = 0, .cp_size = 4}, false),
              IsError(ErrorCode::kMeshMismatch, HasSubstr("cp=2 would fit")));
}

TEST(MeshTest, PiecesOfASequenceStayTogetherEvenWhereUnevenIsAllowed) {
  EXPECT_THAT(SlicesOf({.dp = 4, .cp = 3}, {.dp_rank = 0, .dp_size = 3, .cp_rank = 0, .cp_size = 2}, true),
              IsError(ErrorCode::kMeshMismatch, HasSubstr("cp=1 or 3 would fit")));
}

TEST(MeshTest, TheLargestMeshDoesNotOverflow) {
  const uint32_t most = 0xffffffff;
  const GridRange range = SlicesOf({.dp = 65536, .cp = 1}, {.dp_rank = most - 1, .dp_size = most}, true).value();
  EXPECT_EQ(range, (GridRange{.dp_begin = 65535, .dp_count = 1, .cp_begin = 0, .cp_count = 1}));
}

TEST(MeshTest, ARankOutsideItsMeshIsRefused) {
  EXPECT_THAT(CheckMeshRank({.dp_rank = 1, .dp_size = 2, .cp_rank = 3, .cp_size = 4}), IsOk());
  EXPECT_THAT(CheckMeshRank({.dp_rank = 2, .dp_size = 2}),
              IsError(ErrorCode::kInvalidArgument, HasSubstr("dp_rank=2")));
  EXPECT_THAT(CheckMeshRank({.cp_rank = 1, .cp_size = 1}), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(CheckMeshRank({.dp_size = 0}), IsError(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace batchweave
