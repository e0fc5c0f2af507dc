// Entries as tables of a FlatBuffer, in manifests and in archived objects alike (entry.fbs).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/format/entry.h"
#include "batchweave/format/verified_root.h"

namespace flatbuffers {
class FlatBufferBuilder;
template <typename T>
struct Offset;
}  // namespace flatbuffers

namespace batchweave {

namespace wire {
struct Entry;
struct PartOfGrid;
}  // namespace wire

// `entry` must pass CheckEntry.
flatbuffers::Offset<wire::Entry> WriteEntry(flatbuffers::FlatBufferBuilder& builder, const Entry& entry);

// From a table of a verified block; what comes out passes CheckEntry. Errors: kCorrupt.
Result<Entry> ReadEntry(const wire::Entry& table, CopyBudget& budget);

// One part. The lengths of slices that are not all alike lie beside it: appended to, taken off the front of `lengths`.
wire::PartOfGrid WritePartOfGrid(const Part& part, std::vector<uint8_t>& lengths);
// Unchecked but for what the struct cannot hold. Errors: kCorrupt.
Result<Part> ReadPartOfGrid(const wire::PartOfGrid& part, std::span<const uint8_t>& lengths);

}  // namespace batchweave
