#include "batchweave/format/archive.h"

#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "batchweave/format/archive_generated.h"
#include "batchweave/format/entry_codec.h"
#include "batchweave/format/history_codec.h"
#include "batchweave/format/object_frame.h"
#include "batchweave/format/verified_root.h"
#include "batchweave/format/wire_hash.h"

namespace batchweave {
namespace {

constexpr std::string_view kArchivedEntries = "archived entries";
constexpr std::string_view kOfOtherSteps = "archived entries are of other steps";

Error Corrupt(std::string_view reason) { return {ErrorCode::kCorrupt, std::string(reason)}; }

Bytes FinishObject(flatbuffers::FlatBufferBuilder& builder, ObjectKind kind) {
  return EncodeFramed(kind, std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize())));
}

Result<void> CheckIndex(const ArchiveIndex& index) {
  if (index.children.empty()) return Corrupt("archive index has no children");
  if (index.children.size() > kIndexChildrenMax) return Corrupt("archive index has too many children");
  BW_TRY(CheckContiguous(index.children));
  for (const ArchiveRef& child : index.children) {
    if (child.level != index.children.front().level) return Corrupt("archive index has children of several levels");
  }
  return {};
}

struct Steps {
  Step first;
  Step end;
};

Result<Steps> StepsIn(ByteView block, const wire::ArchivedEntryOffsets& table) {
  const uint64_t count = table.entries() == nullptr ? 0 : table.entries()->size();
  if (count == 0) return Corrupt("archived entries are none");
  if (count > block.size() / kBytesATableMin) return Corrupt("archived entries are more than there is room for");
  if (table.first() > UINT64_MAX - count) return Corrupt("archived entries end beyond 64 bits");
  return Steps{.first = {table.first()}, .end = {table.first() + count}};
}

// The entries of `wanted`, which are among those of `table`.
Result<ArchivedEntries> ReadSteps(ByteView block, const wire::ArchivedEntryOffsets& table, Steps wanted) {
  ArchivedEntries archived{.stream_id = {FromWire(*table.stream_id())}, .first = wanted.first};
  CopyBudget budget(block);
  archived.entries.reserve(wanted.end.value - wanted.first.value);
  for (uint64_t step = wanted.first.value; step < wanted.end.value; ++step) {
    const auto i = static_cast<uint32_t>(step - table.first());
    const auto* entry = BW_TRY(VerifiedElement<wire::Entry>(block, *table.entries(), i, kArchivedEntries));
    archived.entries.push_back(BW_TRY(ReadEntry(*entry, budget)));
  }
  return archived;
}

Result<void> CheckArchivedRows(const ArchivedRows& archived) {
  BW_TRY(CheckRows(archived.rows));
  for (const ProducerRow& row : archived.rows) {
    if (row.state == ProducerRow::State::kGone) return Corrupt("archived rows have one that is gone");
  }
  return {};
}

Result<void> CheckStreamAndKind(StreamId found, StreamId expected, const ArchiveRef& ref, ArchiveRef::Kind kind) {
  if (found != expected) return Corrupt("archived object is of another stream");
  return ref.kind == kind ? Result<void>() : Corrupt("archived object is of another kind");
}

}  // namespace

Bytes EncodeArchivedEntries(const ArchivedEntries& archived) {
  BW_CHECK(!archived.entries.empty() && archived.first.value <= UINT64_MAX - archived.entries.size());
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<wire::Entry>> entries;
  for (const Entry& entry : archived.entries) {
    BW_CHECK(CheckEntry(entry).ok());
    entries.push_back(WriteEntry(builder, entry));
  }
  const auto entries_at = builder.CreateVector(entries);
  const wire::Hash128 stream_id = ToWire(archived.stream_id.bits);
  builder.Finish(wire::CreateArchivedEntries(builder, &stream_id, archived.first.value, entries_at));
  return FinishObject(builder, ObjectKind::kArchivedEntries);
}

Result<ArchivedEntries> DecodeArchivedEntries(ByteView object) {
  const AlignedBlock block(BW_TRY(DecodeWholeBlock(ObjectKind::kArchivedEntries, object)));
  const auto* table = BW_TRY(VerifiedRoot<wire::ArchivedEntryOffsets>(block.view(), kArchivedEntries));
  return ReadSteps(block.view(), *table, BW_TRY(StepsIn(block.view(), *table)));
}

Result<ArchivedEntries> DecodeArchivedSteps(ByteView object, StreamId stream_id, const ArchiveRef& ref, Step first,
                                            size_t count) {
  const AlignedBlock block(BW_TRY(DecodeWholeBlock(ObjectKind::kArchivedEntries, object)));
  const auto* table = BW_TRY(VerifiedRoot<wire::ArchivedEntryOffsets>(block.view(), kArchivedEntries));
  Steps wanted = BW_TRY(StepsIn(block.view(), *table));
  BW_TRY(CheckStreamAndKind({FromWire(*table->stream_id())}, stream_id, ref, ArchiveRef::Kind::kEntries));
  if (wanted.first != ref.first || wanted.end != ref.end) return Corrupt(kOfOtherSteps);
  wanted.first = std::clamp(first, wanted.first, wanted.end);
  wanted.end = wanted.first + std::min<uint64_t>(count, wanted.end.value - wanted.first.value);
  return ReadSteps(block.view(), *table, wanted);
}

Bytes EncodeArchiveIndex(const ArchiveIndex& index) {
  BW_CHECK(CheckIndex(index).ok());
  flatbuffers::FlatBufferBuilder builder;
  std::vector<wire::ArchiveRef> children;
  for (const ArchiveRef& child : index.children) children.push_back(WriteArchiveRef(child));
  const auto children_at = builder.CreateVectorOfStructs(children);
  const wire::Hash128 stream_id = ToWire(index.stream_id.bits);
  builder.Finish(wire::CreateArchiveIndex(builder, &stream_id, children_at));
  return FinishObject(builder, ObjectKind::kArchiveIndex);
}

Result<ArchiveIndex> DecodeArchiveIndex(ByteView object) {
  const AlignedBlock block(BW_TRY(DecodeWholeBlock(ObjectKind::kArchiveIndex, object)));
  const auto* table = BW_TRY(VerifiedRoot<wire::ArchiveIndex>(block.view(), "archive index"));
  ArchiveIndex index{.stream_id = {FromWire(*table->stream_id())}};
  if (table->children() != nullptr) {
    if (!AreStructsAligned(table->children()->Data())) return Corrupt("children of an archive index lie unaligned");
    for (const wire::ArchiveRef* child : *table->children()) {
      index.children.push_back(BW_TRY(ReadArchiveRef(*child)));
    }
  }
  BW_TRY(CheckIndex(index));
  return index;
}

Bytes EncodeArchivedRows(const ArchivedRows& archived) {
  BW_CHECK(CheckArchivedRows(archived).ok());
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<wire::ProducerRow>> rows;
  for (const ProducerRow& row : archived.rows) rows.push_back(WriteRow(builder, row));
  const auto rows_at = builder.CreateVector(rows);
  const wire::Hash128 stream_id = ToWire(archived.stream_id.bits);
  builder.Finish(wire::CreateArchivedRows(builder, &stream_id, rows_at));
  return FinishObject(builder, ObjectKind::kArchivedRows);
}

Result<ArchivedRows> DecodeArchivedRows(ByteView object) {
  const AlignedBlock block(BW_TRY(DecodeWholeBlock(ObjectKind::kArchivedRows, object)));
  const auto* table = BW_TRY(VerifiedRoot<wire::ArchivedRows>(block.view(), "archived rows"));
  ArchivedRows archived{.stream_id = {FromWire(*table->stream_id())}};
  if (table->rows() != nullptr) {
    CopyBudget budget(block.view());
    archived.rows.reserve(table->rows()->size());
    for (const wire::ProducerRow* row : *table->rows()) archived.rows.push_back(BW_TRY(ReadRow(*row, budget)));
  }
  BW_TRY(CheckArchivedRows(archived));
  return archived;
}

Result<void> CheckArchived(const ArchivedEntries& archived, StreamId stream_id, const ArchiveRef& ref) {
  BW_TRY(CheckStreamAndKind(archived.stream_id, stream_id, ref, ArchiveRef::Kind::kEntries));
  const bool same = archived.first == ref.first && archived.first + archived.entries.size() == ref.end;
  return same ? Result<void>() : Corrupt(kOfOtherSteps);
}

Result<void> CheckArchived(const ArchiveIndex& index, StreamId stream_id, const ArchiveRef& ref) {
  BW_TRY(CheckStreamAndKind(index.stream_id, stream_id, ref, ArchiveRef::Kind::kIndex));
  if (index.children.front().first != ref.first || index.children.back().end != ref.end) {
    return Corrupt("archive index is of other steps");
  }
  return index.children.front().level + 1 == ref.level ? Result<void>() : Corrupt("archive index is of another level");
}

Result<void> CheckArchived(const ArchivedRows& archived, StreamId stream_id, const ArchiveRef& ref) {
  return CheckStreamAndKind(archived.stream_id, stream_id, ref, ArchiveRef::Kind::kRows);
}

}  // namespace batchweave
