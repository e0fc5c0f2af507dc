// From the parts of a batch to the ranges of objects that hold a rank's slices. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/format/entry.h"
#include "batchweave/format/grid.h"

namespace batchweave {

struct PlannedSlice {
  Coordinate at;
  uint64_t offset = 0;  // In its object.
  uint64_t size_bytes = 0;
};

// One range of one object: slices that lie behind each other there, with their trailers and the padding between.
struct PlannedRead {
  uint64_t nonce = 0;  // Of the part: it ends the object's key.
  uint64_t offset = 0;
  uint64_t size_bytes = 0;  // Ends with the last slice's trailer.
  size_t first_slice = 0;   // In ReadPlan::slices.
  size_t slice_count = 0;
};

struct ReadPlan {
  std::vector<PlannedSlice> slices;  // All that were wanted, in layout order: cp outermost, dp innermost.
  // Neighbours in layout order and in the object share a read. A run of slices that are all of 0 bytes has none:
  // nothing of it needs to be read, since its length is what the manifest vouches for.
  std::vector<PlannedRead> reads;
};

bool Overlap(const GridRange& a, const GridRange& b);

// `parts` as in Entry, those that hold a wanted slice with their slice lengths. An empty `wanted` is an empty plan.
// Errors: kCorrupt (a slice lies in no part, or beyond its object's end).
Result<ReadPlan> MakeReadPlan(std::span<const Part> parts, const GridRange& wanted);

// About how many bytes a plan would read, told without slice lengths: each part's bytes by its share of slices. Exact
// enough to bound memory before a footer is read.
uint64_t EstimateReadBytes(std::span<const Part> parts, const GridRange& wanted);

}  // namespace batchweave
