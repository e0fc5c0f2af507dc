#include "batchweave/consumer/mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "batchweave/base/mutation.h"

namespace batchweave {
namespace {

struct Axis {
  std::string_view name;
  uint32_t grid;
  uint32_t mesh;
};

// "2 or 4": the sizes next to `axis.mesh`, below and above, that divide the grid.
std::string SizesThatFit(const Axis& axis) {
  const auto fits = [&](uint32_t size) { return axis.grid % size == 0; };
  uint32_t below = std::min(axis.mesh, axis.grid);
  while (!fits(below)) --below;
  uint32_t above = below + 1;
  while (above <= axis.grid && !fits(above)) ++above;
  return above > axis.grid ? fmt::format("{}", below) : fmt::format("{} or {}", below, above);
}

Error Mismatch(const Axis& axis) {
  return {ErrorCode::kMeshMismatch,
          fmt::format("a mesh of {0}={1} does not divide a grid of {0}={2}: {0}={3} would fit", axis.name, axis.mesh,
                      axis.grid, SizesThatFit(axis))};
}

uint32_t BeginOf(const Axis& axis, uint32_t rank) {
  return static_cast<uint32_t>(uint64_t{rank} * axis.grid / axis.mesh);
}

}  // namespace

Result<void> CheckMeshRank(const MeshRank& rank) {
  if (rank.dp_rank < rank.dp_size && rank.cp_rank < rank.cp_size) return {};
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("a rank must be below the size of its mesh: dp_rank={} dp_size={} cp_rank={} cp_size={}",
                           rank.dp_rank, rank.dp_size, rank.cp_rank, rank.cp_size)};
}

Result<GridRange> SlicesOf(Grid grid, const MeshRank& rank, bool allow_uneven) {
  const Axis dp{.name = "dp", .grid = grid.dp, .mesh = rank.dp_size};
  const Axis cp{.name = "cp", .grid = grid.cp, .mesh = rank.cp_size};
  if (!allow_uneven && dp.grid % dp.mesh != 0) return Mismatch(dp);
  if (cp.grid % cp.mesh != 0) return Mismatch(cp);
  const uint32_t dp_begin = BeginOf(dp, rank.dp_rank);
  const uint32_t cp_rank = BW_MUTATION(kReaderTakesItsNeighbours) ? cp.mesh - 1 - rank.cp_rank : rank.cp_rank;
  const uint32_t cp_begin = BeginOf(cp, cp_rank);
  return GridRange{.dp_begin = dp_begin,
                   .dp_count = BeginOf(dp, rank.dp_rank + 1) - dp_begin,
                   .cp_begin = cp_begin,
                   .cp_count = BeginOf(cp, cp_rank + 1) - cp_begin};
}

}  // namespace batchweave
