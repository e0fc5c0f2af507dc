// What manifests and archived objects both say of history: rows of producers, and refs of archived objects.
#pragma once

#include <span>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/format/manifest.h"
#include "batchweave/format/verified_root.h"

namespace flatbuffers {
class FlatBufferBuilder;
template <typename T>
struct Offset;
}  // namespace flatbuffers

namespace batchweave {

namespace wire {
struct ArchiveRef;
struct ProducerRow;
}  // namespace wire

// The rules that a row, a ref keep whatever manifest they are of. Errors: kCorrupt (says which rule).
Result<void> CheckRow(const ProducerRow& row);
Result<void> CheckArchiveRef(const ArchiveRef& ref);

// Rows ordered by producer, none twice, each passing CheckRow. Errors: kCorrupt.
Result<void> CheckRows(std::span<const ProducerRow> rows);

// Refs of entries and indexes that follow each other without a gap, each passing CheckArchiveRef. Errors: kCorrupt.
Result<void> CheckContiguous(std::span<const ArchiveRef> refs);

flatbuffers::Offset<wire::ProducerRow> WriteRow(flatbuffers::FlatBufferBuilder& builder, const ProducerRow& row);
wire::ArchiveRef WriteArchiveRef(const ArchiveRef& ref);

// From parts of a verified block. Unchecked but for what the structs cannot hold. Errors: kCorrupt.
Result<ProducerRow> ReadRow(const wire::ProducerRow& table, CopyBudget& budget);
Result<ArchiveRef> ReadArchiveRef(const wire::ArchiveRef& wire);

}  // namespace batchweave
