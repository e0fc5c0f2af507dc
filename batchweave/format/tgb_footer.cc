#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "batchweave/format/keys.h"
#include "batchweave/format/little_endian.h"
#include "batchweave/format/object_frame.h"
#include "batchweave/format/slice_lengths.h"
#include "batchweave/format/stream_info.h"
#include "batchweave/format/tgb.h"
#include "batchweave/format/tgb_generated.h"
#include "batchweave/format/verified_root.h"
#include "batchweave/format/wire_hash.h"

namespace batchweave {
namespace {

// Where the fields of the tail lie. It is read from the end, so that the magic comes last.
constexpr size_t kIndexHashAt = 0;
constexpr size_t kIndexBytesAt = 8;
constexpr size_t kFormatVersionAt = 12;
constexpr size_t kTailHashAt = 16;
constexpr size_t kMagicAt = 24;
constexpr std::string_view kMagic = "BWbatch\n";

constexpr uint64_t kOneByOne = UINT64_MAX;              // TgbIndex.slice_bytes where the lengths differ.
constexpr uint32_t kIndexBytesMax = uint32_t{1} << 20;  // At 10 bytes a length, those of the largest grid fit.

struct Tail {
  uint32_t index_bytes = 0;
  uint64_t index_hash = 0;
};

Error Corrupt(std::string_view reason) { return {ErrorCode::kCorrupt, std::string(reason)}; }

Bytes EncodeIndex(const TgbFooter& footer) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<uint8_t> lengths;
  const bool uniform = footer.slice_bytes.size() == 1;
  if (!uniform) AppendSliceLengths(footer.slice_bytes, lengths);
  const auto lengths_at = uniform ? 0 : builder.CreateVector(lengths);
  const auto producer_at = builder.CreateString(footer.identity.producer);
  const auto content_type_at = footer.content_type.empty() ? 0 : builder.CreateString(footer.content_type);
  const wire::Hash128 stream_id = ToWire(footer.identity.stream_id.bits);
  const wire::Hash128 digest = ToWire(footer.digest);
  const wire::GridRange range(footer.range.dp_begin, footer.range.dp_count, footer.range.cp_begin,
                              footer.range.cp_count);
  builder.Finish(wire::CreateTgbIndex(
      builder, &stream_id, producer_at, footer.identity.incarnation.value, footer.identity.seq, footer.grid.dp,
      footer.grid.cp, &range, uniform ? footer.slice_bytes.front() : kOneByOne, lengths_at, &digest, content_type_at,
      footer.schema_hash, footer.provenance_bytes, footer.provenance_hash));
  const ByteView index = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return Bytes(index.begin(), index.end());
}

Result<std::vector<uint64_t>> ReadSliceBytes(const wire::TgbIndex& table, const GridRange& range) {
  if (table.slice_bytes() != kOneByOne) return std::vector<uint64_t>{table.slice_bytes()};
  if (table.lengths() == nullptr) return Corrupt("footer has no slice lengths");
  std::span<const uint8_t> encoded(table.lengths()->data(), table.lengths()->size());
  std::vector<uint64_t> lengths = BW_TRY(TakeSliceLengths(encoded, range.slices()));
  if (!encoded.empty()) return Corrupt("footer has more slice lengths than slices");
  return lengths;
}

Result<TgbFooter> ReadIndex(const wire::TgbIndex& table) {
  TgbFooter footer;
  footer.identity = {.stream_id = {FromWire(*table.stream_id())},
                     .producer = table.producer()->str(),
                     .incarnation = {table.incarnation()},
                     .seq = table.seq()};
  footer.grid = {.dp = table.dp(), .cp = table.cp()};
  footer.range = {.dp_begin = table.range()->dp_begin(),
                  .dp_count = table.range()->dp_count(),
                  .cp_begin = table.range()->cp_begin(),
                  .cp_count = table.range()->cp_count()};
  footer.slice_bytes = BW_TRY(ReadSliceBytes(table, footer.range));
  footer.digest = FromWire(*table.digest());
  if (table.content_type() != nullptr) footer.content_type = table.content_type()->str();
  footer.schema_hash = table.schema_hash();
  footer.provenance_bytes = table.provenance_bytes();
  footer.provenance_hash = table.provenance_hash();
  return footer;
}

Result<void> CheckFooter(const TgbFooter& footer) {
  if (!CheckName("producer", footer.identity.producer).ok()) return Corrupt("footer has no valid producer");
  if (footer.identity.incarnation == Incarnation{} || footer.identity.seq == 0) {
    return Corrupt("footer has no incarnation or seq");
  }
  if (!IsGrid(footer.grid) || !IsRangeOf(footer.grid, footer.range))
    return Corrupt("footer's range is not in its grid");
  if (!IsContentType(footer.content_type)) return Corrupt("footer has no valid content type");
  if (footer.provenance_bytes > kProvenanceBytesMax) return Corrupt("footer's provenance is too long");
  BW_TRY(PartLayout::PayloadEnd(footer.range, footer.slice_bytes));
  return {};
}

Result<Tail> DecodeTail(ByteView end_of_object) {
  if (end_of_object.size() < kFooterTailBytes) return Corrupt("batch object is cut short");
  const ByteView tail = end_of_object.last(kFooterTailBytes);
  if (AsText(tail.subspan(kMagicAt)) != kMagic) return Corrupt("object does not end in a batch's footer");
  // Before the version is believed: this part of the tail is the same in every version to come.
  const uint64_t expected = LoadLittleEndian<uint64_t>(tail, kTailHashAt);
  if (const uint64_t found = Hash64(tail.first(kTailHashAt)); found != expected) {
    return Corrupt(
        fmt::format("checksum mismatch in the footer's tail: expected={:016x} found={:016x}", expected, found));
  }
  const auto version = LoadLittleEndian<uint32_t>(tail, kFormatVersionAt);
  if (version > kFormatVersion) {
    return Error{ErrorCode::kIncompatible,
                 fmt::format("the batch was written by newer software: format={} known={}", version, kFormatVersion)};
  }
  const auto index_bytes = LoadLittleEndian<uint32_t>(tail, kIndexBytesAt);
  if (version == 0 || index_bytes > kIndexBytesMax) return Corrupt("footer's tail makes no sense");
  return Tail{.index_bytes = index_bytes, .index_hash = LoadLittleEndian<uint64_t>(tail, kIndexHashAt)};
}

}  // namespace

Bytes EncodeTgbFooter(const TgbFooter& footer) {
  BW_CHECK(CheckFooter(footer).ok());
  const Bytes index = EncodeIndex(footer);
  BW_CHECK(index.size() <= kIndexBytesMax);
  std::array<std::byte, kFooterTailBytes> tail{};
  StoreLittleEndian(Hash64(index), tail, kIndexHashAt);
  StoreLittleEndian(static_cast<uint32_t>(index.size()), tail, kIndexBytesAt);
  StoreLittleEndian(kFormatVersion, tail, kFormatVersionAt);
  StoreLittleEndian(Hash64(ByteView(tail).first(kTailHashAt)), tail, kTailHashAt);
  std::ranges::copy(AsBytes(kMagic), tail.begin() + kMagicAt);
  return Join(std::array<ByteView, 2>{index, tail});
}

Result<TgbFooter> DecodeTgbFooter(ByteView end_of_object) {
  const Tail tail = BW_TRY(DecodeTail(end_of_object));
  if (end_of_object.size() < kFooterTailBytes + size_t{tail.index_bytes}) return Corrupt("footer is cut short");
  const ByteView index = end_of_object.last(kFooterTailBytes + tail.index_bytes).first(tail.index_bytes);
  if (const uint64_t found = Hash64(index); found != tail.index_hash) {
    return Corrupt(
        fmt::format("checksum mismatch in the footer: expected={:016x} found={:016x}", tail.index_hash, found));
  }
  const AlignedBlock block(index);
  const wire::TgbIndex* table = BW_TRY(VerifiedRoot<wire::TgbIndex>(block.view(), "footer"));
  TgbFooter footer = BW_TRY(ReadIndex(*table));
  BW_TRY(CheckFooter(footer));
  return footer;
}

Result<uint32_t> FooterBytes(ByteView tail) {
  return static_cast<uint32_t>(kFooterTailBytes + BW_TRY(DecodeTail(tail)).index_bytes);
}

Result<void> CheckProvenanceOf(const TgbFooter& footer, ByteView provenance) {
  if (provenance.size() != footer.provenance_bytes)
    return Corrupt("provenance has another length than its footer says");
  if (provenance.empty()) return {};
  const uint64_t found = Hash64(provenance);
  if (found == footer.provenance_hash) return {};
  return Corrupt(fmt::format("checksum mismatch in the provenance: expected={:016x} found={:016x}",
                             footer.provenance_hash, found));
}

Result<void> CheckFooterOf(const TgbFooter& footer, StreamId stream_id, const Entry& entry, const Part& part) {
  const TgbIdentity identity{
      .stream_id = stream_id, .producer = entry.producer, .incarnation = entry.incarnation, .seq = entry.seq};
  if (footer.identity != identity) return Corrupt("footer is of another batch");
  if (footer.grid != entry.grid || footer.range != part.range) return Corrupt("footer is of another part or grid");
  if (footer.content_type != entry.content_type || footer.schema_hash != entry.schema_hash) {
    return Corrupt("footer has another content type or schema");
  }
  if (!part.slice_bytes.empty() && part.slice_bytes != footer.slice_bytes) {
    return Corrupt("footer has other slice lengths");
  }
  const uint64_t payload_end = BW_TRY(PartLayout::PayloadEnd(footer.range, footer.slice_bytes));
  const uint64_t object_bytes = payload_end + part.provenance_bytes + part.footer_bytes;
  if (footer.provenance_bytes != part.provenance_bytes || object_bytes != part.object_bytes) {
    return Corrupt("footer's slices do not fill their object");
  }
  return {};
}

}  // namespace batchweave
