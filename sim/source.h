// What the simulated producers publish: batch 1, 2, 3... of a source, whose bytes follow from its name and number, so
// that whoever holds a slice can tell whether it is the right one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "batchweave/producer/global_batch.h"

namespace batchweave::sim {

// What slice `at` of batch `number` holds: from nothing to some hundred bytes.
Bytes SliceOf(std::string_view producer, uint64_t number, Coordinate at);
GlobalBatch BatchOf(std::string_view producer, uint64_t number, Grid grid);
// Of `range` only, as a part of the batch.
GlobalBatch PartOf(std::string_view producer, uint64_t number, GridRange range);

// The cursor after batch `number`, of at least `bytes` bytes; and the number of one that was committed (none at all: 0).
Bytes CursorOf(uint64_t number, size_t bytes);
std::optional<uint64_t> NumberOf(ByteView cursor);

}  // namespace batchweave::sim
