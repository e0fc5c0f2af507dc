// From a rank's place in the training mesh to the slices of a grid that it reads. Pure.
//
// Tensor- and pipeline-parallel ranks of one (dp, cp) coordinate read the same slices, so they do not appear here.
#pragma once

#include <cstdint>

#include "batchweave/base/result.h"
#include "batchweave/format/grid.h"

namespace batchweave {

struct MeshRank {
  uint32_t dp_rank = 0;
  uint32_t dp_size = 1;
  uint32_t cp_rank = 0;
  uint32_t cp_size = 1;
  friend bool operator==(const MeshRank&, const MeshRank&) = default;
};

// Errors: kInvalidArgument (a size of 0, or a rank that is not below its size).
Result<void> CheckMeshRank(const MeshRank& rank);

// Rank r of M along an axis of G slices reads [r*G/M, (r+1)*G/M): every slice is read by exactly one coordinate of the
// mesh. Without `allow_uneven` M must divide G on both axes; with it, dp ranks may differ by one slice (some may have
// none); cp must divide in any case, since its pieces belong together.
// Errors: kMeshMismatch (names both sizes, and what would fit).
Result<GridRange> SlicesOf(Grid grid, const MeshRank& rank, bool allow_uneven);

}  // namespace batchweave
