#include <flatbuffers/flatbuffers.h>

#include <iterator>
#include <utility>
#include <vector>

#include "batchweave/format/entry_codec.h"
#include "batchweave/format/history_codec.h"
#include "batchweave/format/manifest_blocks.h"
#include "batchweave/format/manifest_generated.h"
#include "batchweave/format/object_frame.h"

namespace batchweave {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::Vector;

// The same bytes: RestOffsets has the fields of Rest in their places.
template <typename A, typename B>
constexpr bool kSameFields =
    A::VT_ENTRIES == int{B::VT_ENTRIES} && A::VT_ARCHIVES == int{B::VT_ARCHIVES} &&
    A::VT_CHECKPOINTS == int{B::VT_CHECKPOINTS} && A::VT_QUARANTINES == int{B::VT_QUARANTINES} &&
    A::VT_ROWS == int{B::VT_ROWS} && A::VT_ARCHIVED_ROWS == int{B::VT_ARCHIVED_ROWS};
static_assert(kSameFields<wire::Rest, wire::RestOffsets>);

Error Corrupt(std::string_view reason) { return {ErrorCode::kCorrupt, std::string(reason)}; }

// A vector of what `write` makes of each of `items`; none where there are none.
template <typename Table, typename Items, typename Write>
Offset<Vector<Offset<Table>>> WriteTables(FlatBufferBuilder& builder, const Items& items, Write write) {
  if (items.empty()) return 0;
  std::vector<Offset<Table>> tables;
  tables.reserve(items.size());
  for (const auto& item : items) tables.push_back(write(builder, item));
  return builder.CreateVector(tables);
}

Offset<wire::Checkpoint> WriteCheckpoint(FlatBufferBuilder& builder, const Checkpoint& checkpoint) {
  const auto group_at = builder.CreateSharedString(checkpoint.group);
  const auto name_at = builder.CreateString(checkpoint.name);
  return wire::CreateCheckpoint(builder, group_at, name_at, checkpoint.position.value, checkpoint.pinned,
                                checkpoint.order);
}

Offset<wire::Quarantine> WriteQuarantine(FlatBufferBuilder& builder, const Quarantine& quarantine) {
  return wire::CreateQuarantine(builder, quarantine.first.value, quarantine.end.value,
                                builder.CreateString(quarantine.reason), quarantine.set_at.value,
                                quarantine.lifted_at.value);
}

// The older entries, put before those that the head brought.
Result<void> ReadOlderEntries(const wire::Rest& table, CopyBudget& budget, Manifest& manifest) {
  if (table.entries() == nullptr) return {};
  std::vector<Entry> tail;
  tail.reserve(table.entries()->size() + manifest.tail.size());
  for (const wire::Entry* entry : *table.entries()) tail.push_back(BW_TRY(ReadEntry(*entry, budget)));
  std::ranges::move(manifest.tail, std::back_inserter(tail));
  manifest.tail = std::move(tail);
  return {};
}

Result<void> ReadCheckpoints(const wire::Rest& table, Manifest& manifest) {
  if (table.checkpoints() == nullptr) return {};
  if (table.checkpoints()->size() > kCheckpointsMax) return Corrupt("too many checkpoints");
  for (const wire::Checkpoint* checkpoint : *table.checkpoints()) {
    manifest.checkpoints.push_back({.group = checkpoint->group()->str(),
                                    .name = checkpoint->name()->str(),
                                    .position = {checkpoint->position()},
                                    .pinned = checkpoint->pinned(),
                                    .order = checkpoint->order()});
  }
  return {};
}

Result<void> ReadQuarantines(const wire::Rest& table, Manifest& manifest) {
  if (table.quarantines() == nullptr) return {};
  if (table.quarantines()->size() > kQuarantinesMax) return Corrupt("too many quarantines");
  for (const wire::Quarantine* quarantine : *table.quarantines()) {
    manifest.quarantines.push_back({.first = {quarantine->first()},
                                    .end = {quarantine->end()},
                                    .reason = quarantine->reason()->str(),
                                    .set_at = {quarantine->set_at()},
                                    .lifted_at = {quarantine->lifted_at()}});
  }
  return {};
}

Result<void> ReadRows(const wire::Rest& table, CopyBudget& budget, Manifest& manifest) {
  if (table.rows() == nullptr) return {};
  manifest.rows.reserve(table.rows()->size());
  for (const wire::ProducerRow* row : *table.rows()) manifest.rows.push_back(BW_TRY(ReadRow(*row, budget)));
  return {};
}

}  // namespace

Bytes EncodeRestBlock(const Manifest& manifest) {
  FlatBufferBuilder builder(kHeadReadBytes);
  const std::span entries = std::span(manifest.tail).first(manifest.tail.size() - EntriesInHead(manifest));
  const auto entries_at = WriteTables<wire::Entry>(builder, entries, WriteEntry);
  const auto checkpoints_at = WriteTables<wire::Checkpoint>(builder, manifest.checkpoints, WriteCheckpoint);
  const auto quarantines_at = WriteTables<wire::Quarantine>(builder, manifest.quarantines, WriteQuarantine);
  const auto rows_at = WriteTables<wire::ProducerRow>(builder, manifest.rows, WriteRow);
  std::vector<wire::ArchiveRef> refs;
  for (const ArchiveRef& ref : manifest.archives) refs.push_back(WriteArchiveRef(ref));
  const auto archives_at = refs.empty() ? 0 : builder.CreateVectorOfStructs(refs);
  wire::ArchiveRef rows_ref;
  if (manifest.archived_rows) rows_ref = WriteArchiveRef(*manifest.archived_rows);
  builder.Finish(wire::CreateRest(builder, entries_at, archives_at, checkpoints_at, quarantines_at, rows_at,
                                  manifest.archived_rows ? &rows_ref : nullptr));
  const ByteView block = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return Bytes(block.begin(), block.end());
}

template <typename Rest>
Result<void> ReadArchives(const Rest& table, CopyBudget& budget, Manifest& manifest) {
  if (table.archived_rows() != nullptr) manifest.archived_rows = BW_TRY(ReadArchiveRef(*table.archived_rows()));
  if (table.archives() == nullptr) return {};
  if (!budget.Take(uint64_t{table.archives()->size()} * sizeof(wire::ArchiveRef))) {
    return Corrupt("archived objects are stored twice over");
  }
  if (!AreStructsAligned(table.archives()->Data())) return Corrupt("archived objects lie unaligned");
  manifest.archives.reserve(table.archives()->size());
  for (const wire::ArchiveRef* ref : *table.archives()) manifest.archives.push_back(BW_TRY(ReadArchiveRef(*ref)));
  return {};
}

template Result<void> ReadArchives(const wire::Rest&, CopyBudget&, Manifest&);
template Result<void> ReadArchives(const wire::RestOffsets&, CopyBudget&, Manifest&);

Result<void> DecodeRestBlock(ByteView block, Manifest& manifest) {
  const AlignedBlock aligned(block);
  const wire::Rest& table = *BW_TRY(VerifiedRoot<wire::Rest>(aligned.view(), kRestOfManifest));
  CopyBudget budget(block);
  BW_TRY(ReadOlderEntries(table, budget, manifest));
  BW_TRY(ReadArchives(table, budget, manifest));
  BW_TRY(ReadCheckpoints(table, manifest));
  BW_TRY(ReadQuarantines(table, manifest));
  return ReadRows(table, budget, manifest);
}

}  // namespace batchweave
