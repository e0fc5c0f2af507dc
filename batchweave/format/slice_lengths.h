// How lengths of slices are written down one by one: each as the difference to the one before (the first to 0), zigzag
// (so that small differences of either sign are small numbers), in groups of 7 bits, lowest first, all but the last
// with bit 7 set. Slices of one batch are of about one size, so a length takes 1 to 3 bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"

namespace batchweave {

// Appends `lengths` to `to`.
void AppendSliceLengths(std::span<const uint64_t> lengths, std::vector<uint8_t>& to);

// Bytes that AppendSliceLengths would append.
size_t SliceLengthsBytes(std::span<const uint64_t> lengths);

// Takes `count` lengths off the front of `encoded`. Errors: kCorrupt (too few bytes, or a number beyond 64 bits).
Result<std::vector<uint64_t>> TakeSliceLengths(std::span<const uint8_t>& encoded, uint64_t count);

}  // namespace batchweave
