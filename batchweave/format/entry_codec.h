// Entries as tables of a FlatBuffer, in manifests and in archived objects alike (entry.fbs).
#pragma once

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
}  // namespace wire

// `entry` must pass CheckEntry.
flatbuffers::Offset<wire::Entry> WriteEntry(flatbuffers::FlatBufferBuilder& builder, const Entry& entry);

// From a table of a verified block; what comes out passes CheckEntry. Errors: kCorrupt.
Result<Entry> ReadEntry(const wire::Entry& table, CopyBudget& budget);

}  // namespace batchweave
