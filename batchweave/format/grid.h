// The grid of slices of one global batch: data-parallel by context-parallel.
#pragma once

#include <cstdint>

namespace batchweave {

// Slices in one TGB, at most: 65536. A number this large still indexes in a few MiB.
inline constexpr uint64_t kGridSlicesMax = uint64_t{1} << 16;

// The shape: `dp` rows of samples, each cut in `cp` pieces along the sequence.
struct Grid {
  uint32_t dp = 0;
  uint32_t cp = 0;
  uint64_t slices() const { return uint64_t{dp} * cp; }
  friend bool operator==(const Grid&, const Grid&) = default;
};

// True where `grid` has slices, and not too many.
inline bool IsGrid(Grid grid) { return grid.slices() >= 1 && grid.slices() <= kGridSlicesMax; }

// One slice's place in a grid.
struct Coordinate {
  uint32_t dp = 0;
  uint32_t cp = 0;
  friend bool operator==(const Coordinate&, const Coordinate&) = default;
};

// A rectangle of a grid: dp in [dp_begin, dp_begin + dp_count), cp alike.
struct GridRange {
  uint32_t dp_begin = 0;
  uint32_t dp_count = 0;
  uint32_t cp_begin = 0;
  uint32_t cp_count = 0;
  uint64_t slices() const { return uint64_t{dp_count} * cp_count; }
  friend bool operator==(const GridRange&, const GridRange&) = default;
};

// True where `range` has slices, and all of them lie in `grid`.
inline bool IsRangeOf(Grid grid, const GridRange& range) {
  return range.slices() > 0 && uint64_t{range.dp_begin} + range.dp_count <= grid.dp &&
         uint64_t{range.cp_begin} + range.cp_count <= grid.cp;
}

// All of `grid`.
inline GridRange WholeOf(Grid grid) { return {.dp_begin = 0, .dp_count = grid.dp, .cp_begin = 0, .cp_count = grid.cp}; }

}  // namespace batchweave
