#include "batchweave/format/entry_codec.h"

#include <flatbuffers/flatbuffers.h>

#include <utility>

#include "batchweave/format/entry_generated.h"
#include "batchweave/format/slice_lengths.h"
#include "batchweave/format/wire_hash.h"

namespace batchweave {
namespace {

// Where PartObject.slice_bytes is no length; no object is so large.
constexpr uint64_t kOneByOne = UINT64_MAX;
constexpr uint64_t kInFooter = UINT64_MAX - 1;

Error Corrupt(std::string_view reason) { return {ErrorCode::kCorrupt, std::string(reason)}; }

uint64_t SliceBytesField(const Part& part) {
  if (part.slice_bytes.empty()) return kInFooter;
  return part.slice_bytes.size() == 1 ? part.slice_bytes.front() : kOneByOne;
}

wire::PartObject ToWire(const Part& part) {
  return wire::PartObject(part.nonce, part.object_bytes, SliceBytesField(part), part.footer_bytes,
                          part.provenance_bytes);
}

wire::GridRange ToWire(const GridRange& range) {
  return wire::GridRange(range.dp_begin, range.dp_count, range.cp_begin, range.cp_count);
}

GridRange FromWire(const wire::GridRange& range) {
  return {.dp_begin = range.dp_begin(),
          .dp_count = range.dp_count(),
          .cp_begin = range.cp_begin(),
          .cp_count = range.cp_count()};
}

Result<Part> ReadPart(const wire::PartObject& object, const GridRange& range, std::span<const uint8_t>& lengths) {
  Part part{.nonce = object.nonce(),
            .range = range,
            .object_bytes = object.object_bytes(),
            .footer_bytes = object.footer_bytes(),
            .provenance_bytes = object.provenance_bytes()};
  if (object.slice_bytes() == kOneByOne) {
    // A range beyond the grid is found later; its count is bounded here, by the bytes of the lengths.
    part.slice_bytes = BW_TRY(TakeSliceLengths(lengths, range.slices()));
  } else if (object.slice_bytes() != kInFooter) {
    part.slice_bytes = {object.slice_bytes()};
  }
  return part;
}

Result<std::vector<Part>> ReadParts(const wire::Entry& table, CopyBudget& budget) {
  if ((table.whole() == nullptr) == (table.parts() == nullptr)) return Corrupt("entry has not one kind of parts");
  std::span<const uint8_t> lengths;
  if (table.lengths() != nullptr) lengths = {table.lengths()->data(), table.lengths()->size()};
  if (!budget.Take(lengths.size())) return Corrupt("slice lengths are stored twice over");

  std::vector<Part> parts;
  if (table.whole() != nullptr) {
    parts.push_back(BW_TRY(ReadPart(*table.whole(), WholeOf({.dp = table.dp(), .cp = table.cp()}), lengths)));
  } else {
    if (!budget.Take(uint64_t{table.parts()->size()} * sizeof(wire::PartOfGrid))) {
      return Corrupt("parts are stored twice over");
    }
    if (!AreStructsAligned(table.parts()->Data())) return Corrupt("parts lie unaligned");
    parts.reserve(table.parts()->size());
    for (const wire::PartOfGrid* part : *table.parts()) {
      parts.push_back(BW_TRY(ReadPartOfGrid(*part, lengths)));
    }
  }
  if (!lengths.empty()) return Corrupt("more slice lengths than slices");
  return parts;
}

// An absent vector is an empty one.
Result<Bytes> ReadBytes(const flatbuffers::Vector<uint8_t>* vector, CopyBudget& budget) {
  if (vector == nullptr) return Bytes();
  if (!budget.Take(vector->size())) return Corrupt("bytes are stored twice over");
  const auto* data = reinterpret_cast<const std::byte*>(vector->data());
  return Bytes(data, data + vector->size());
}

flatbuffers::Offset<flatbuffers::Vector<uint8_t>> WriteBytes(flatbuffers::FlatBufferBuilder& builder,
                                                             const Bytes& bytes) {
  if (bytes.empty()) return 0;
  return builder.CreateVector(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

wire::PartOfGrid WritePartOfGrid(const Part& part, std::vector<uint8_t>& lengths) {
  if (part.slice_bytes.size() > 1) AppendSliceLengths(part.slice_bytes, lengths);
  return {ToWire(part), ToWire(part.range)};
}

Result<Part> ReadPartOfGrid(const wire::PartOfGrid& part, std::span<const uint8_t>& lengths) {
  return ReadPart(part.object(), FromWire(part.range()), lengths);
}

flatbuffers::Offset<wire::Entry> WriteEntry(flatbuffers::FlatBufferBuilder& builder, const Entry& entry) {
  std::vector<uint8_t> lengths;
  std::vector<wire::PartOfGrid> parts;
  for (const Part& part : entry.parts) parts.push_back(WritePartOfGrid(part, lengths));
  const bool whole = parts.size() == 1;
  const auto parts_at = whole ? 0 : builder.CreateVectorOfStructs(parts);
  const auto lengths_at = lengths.empty() ? 0 : builder.CreateVector(lengths);
  const auto producer_at = builder.CreateSharedString(entry.producer);
  const auto content_type_at = entry.content_type.empty() ? 0 : builder.CreateSharedString(entry.content_type);
  const auto cursor_at = WriteBytes(builder, entry.cursor);
  const auto metadata_at = WriteBytes(builder, entry.metadata);
  const wire::Hash128 digest = ToWire(entry.digest);
  return wire::CreateEntry(builder, producer_at, entry.incarnation.value, entry.seq, entry.grid.dp, entry.grid.cp,
                           &digest, content_type_at, entry.schema_hash, entry.samples, entry.committed_at_ns, cursor_at,
                           metadata_at, whole ? &parts.front().object() : nullptr, parts_at, lengths_at);
}

Result<Entry> ReadEntry(const wire::Entry& table, CopyBudget& budget) {
  Entry entry;
  entry.producer = table.producer()->str();
  entry.incarnation = {table.incarnation()};
  entry.seq = table.seq();
  entry.grid = {.dp = table.dp(), .cp = table.cp()};
  entry.parts = BW_TRY(ReadParts(table, budget));
  entry.digest = FromWire(*table.digest());
  if (table.content_type() != nullptr) entry.content_type = table.content_type()->str();
  entry.schema_hash = table.schema_hash();
  entry.samples = table.samples();
  entry.cursor = BW_TRY(ReadBytes(table.cursor(), budget));
  entry.committed_at_ns = table.committed_at_ns();
  entry.metadata = BW_TRY(ReadBytes(table.metadata(), budget));
  BW_TRY(CheckEntry(entry));
  return entry;
}

}  // namespace batchweave
