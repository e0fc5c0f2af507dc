// The bytes of one slice, verified: for a person or a script that looks at one. Ranks read through a Consumer.
#pragma once

#include <cstdint>
#include <functional>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"
#include "batchweave/stream/stream.h"

namespace batchweave {

struct SliceAddress {
  Step step;
  Coordinate at;
};

// Told after each block of a long read: so many bytes of so many.
using ByteProgress = std::function<void(uint64_t done_bytes, uint64_t total_bytes)>;

// The whole slice, in memory: nothing of it is given before all of it was verified (holds I10 of docs/protocol.md).
// Errors: those of DescribeStep; kInvalidArgument (outside the step's grid), kCorrupt (key, place and check).
Result<Bytes> ReadSlice(Stream& stream, const SliceAddress& address, const ByteProgress& progress);

}  // namespace batchweave
