#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "batchweave/format/entry_codec.h"
#include "batchweave/format/manifest_blocks.h"
#include "batchweave/format/manifest_check.h"
#include "batchweave/format/manifest_generated.h"
#include "batchweave/format/object_frame.h"
#include "batchweave/format/slice_lengths.h"
#include "batchweave/format/wire_hash.h"

namespace batchweave {
namespace {

constexpr size_t kEntryFixedBytes = 116;  // Of an entry, beside what EncodedBytes counts.
constexpr size_t kPartBytes = 48;         // Of one of several parts.

// About what an entry takes. Fixed for ever for the same entry: golden files depend on it.
size_t EncodedBytes(const Entry& entry) {
  size_t size_bytes = kEntryFixedBytes + entry.producer.size() + entry.cursor.size() + entry.metadata.size();
  if (entry.parts.size() > 1) size_bytes += entry.parts.size() * kPartBytes;
  for (const Part& part : entry.parts) {
    if (part.slice_bytes.size() > 1) size_bytes += SliceLengthsBytes(part.slice_bytes);
  }
  return size_bytes;
}

flatbuffers::Offset<wire::Group> WriteGroup(flatbuffers::FlatBufferBuilder& builder, const GroupRow& group) {
  return wire::CreateGroup(builder, builder.CreateString(group.name), group.session.value, group.start.value,
                           group.start_held, group.smallest_held.value);
}

Result<std::vector<GroupRow>> ReadGroups(const wire::Head& table) {
  std::vector<GroupRow> groups;
  if (table.groups() == nullptr) return groups;
  if (table.groups()->size() > kGroupsMax) return Error{ErrorCode::kCorrupt, "too many groups"};
  for (const wire::Group* group : *table.groups()) {
    groups.push_back({.name = group->name()->str(),
                      .session = {group->session()},
                      .start = {group->start()},
                      .start_held = group->start_held(),
                      .smallest_held = {group->smallest_held()}});
  }
  return groups;
}

Result<void> CheckReaderFeatures(const wire::Head& table) {
  const uint64_t unknown = table.reader_features() & ~kKnownReaderFeatures;
  if (unknown == 0) return {};
  return Error{ErrorCode::kIncompatible,
               fmt::format("the manifest needs newer software: version={} unknown_reader_features={:#x}",
                           table.version(), unknown)};
}

}  // namespace

size_t EntriesInHead(const Manifest& manifest) {
  size_t count = 0;
  size_t size_bytes = 0;
  for (auto entry = manifest.tail.rbegin(); entry != manifest.tail.rend(); ++entry, ++count) {
    size_bytes += EncodedBytes(*entry);
    if (count > 0 && size_bytes > kHeadEntriesBytes) break;
  }
  return count;
}

Bytes EncodeHeadBlock(const Manifest& manifest, const RestSummary& rest) {
  flatbuffers::FlatBufferBuilder builder(kHeadReadBytes);
  std::vector<flatbuffers::Offset<wire::Entry>> entries;
  const size_t entries_in_rest = manifest.tail.size() - EntriesInHead(manifest);
  for (size_t i = entries_in_rest; i < manifest.tail.size(); ++i) {
    entries.push_back(WriteEntry(builder, manifest.tail[i]));
  }
  std::vector<flatbuffers::Offset<wire::Group>> groups;
  for (const GroupRow& group : manifest.groups) groups.push_back(WriteGroup(builder, group));
  const auto entries_at = entries.empty() ? 0 : builder.CreateVector(entries);
  const auto groups_at = groups.empty() ? 0 : builder.CreateVector(groups);
  const wire::Hash128 stream_id = ToWire(manifest.stream_id.bits);
  const wire::Hash128 commit_id = ToWire(manifest.commit_id.bits);
  const wire::Hash128 previous_hash = ToWire(manifest.previous_hash);
  builder.Finish(wire::CreateHead(builder, &stream_id, manifest.version.value, &commit_id, &previous_hash,
                                  manifest.reader_features, manifest.writer_features, manifest.first_step.value,
                                  manifest.next_step.value, manifest.sealed, manifest.deleted, groups_at, entries_at,
                                  rest.size_bytes, rest.hash));
  const ByteView block = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return Bytes(block.begin(), block.end());
}

Result<ManifestHead> DecodeHeadBlock(ByteView block) {
  const AlignedBlock aligned(block);
  const wire::Head& table = *BW_TRY(VerifiedRoot<wire::Head>(aligned.view(), "head of the manifest"));
  BW_TRY(CheckReaderFeatures(table));

  ManifestHead head;
  Manifest& manifest = head.manifest;
  manifest.stream_id = {FromWire(*table.stream_id())};
  manifest.version = {table.version()};
  manifest.commit_id = {FromWire(*table.commit_id())};
  manifest.previous_hash = FromWire(*table.previous_hash());
  manifest.reader_features = table.reader_features();
  manifest.writer_features = table.writer_features();
  manifest.first_step = {table.first_step()};
  manifest.next_step = {table.next_step()};
  manifest.sealed = table.sealed();
  manifest.deleted = table.deleted();
  manifest.groups = BW_TRY(ReadGroups(table));
  if (table.entries() != nullptr) {
    CopyBudget budget(block);
    manifest.tail.reserve(table.entries()->size());
    for (const wire::Entry* entry : *table.entries()) manifest.tail.push_back(BW_TRY(ReadEntry(*entry, budget)));
  }
  head.rest_bytes = table.rest_bytes();
  head.rest_hash = table.rest_hash();
  BW_TRY(CheckHead(manifest));
  return head;
}

}  // namespace batchweave
