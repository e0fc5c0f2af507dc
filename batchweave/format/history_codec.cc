#include "batchweave/format/history_codec.h"

#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>

#include "batchweave/format/keys.h"
#include "batchweave/format/manifest_generated.h"
#include "batchweave/format/wire_hash.h"

namespace batchweave {
namespace {

Error Corrupt(std::string_view reason, const ProducerRow& row) {
  return {ErrorCode::kCorrupt, fmt::format("{}: producer={}", reason, row.producer)};
}

Error Corrupt(std::string_view reason, const ArchiveRef& ref) {
  return {ErrorCode::kCorrupt, fmt::format("{}: version={} nonce={:016x}", reason, ref.version.value, ref.nonce)};
}

}  // namespace

Result<void> CheckRow(const ProducerRow& row) {
  if (!CheckName("producer", row.producer).ok()) return Corrupt("row of a producer without a valid name", row);
  if (row.incarnation == Incarnation{}) return Corrupt("row has no incarnation", row);
  if (row.step.has_value() != (row.seq > 0)) return Corrupt("row has a step without a seq, or the reverse", row);
  if (row.cursor && row.cursor->size() > kCursorBytesMax) return Corrupt("cursor of a row is too long", row);
  return {};
}

Result<void> CheckArchiveRef(const ArchiveRef& ref) {
  const bool is_rows = ref.kind == ArchiveRef::Kind::kRows;
  const bool is_index = ref.kind == ArchiveRef::Kind::kIndex;
  if (ref.version == Version{}) return Corrupt("archived object has no version", ref);
  if (is_rows && (ref.first != Step{} || ref.end != Step{})) return Corrupt("archived rows have steps", ref);
  if (!is_rows && ref.first >= ref.end) return Corrupt("archived object has no steps", ref);
  if (is_index != (ref.level > 0)) return Corrupt("archived object is on the wrong level", ref);
  return {};
}

Result<void> CheckRows(std::span<const ProducerRow> rows) {
  const ProducerRow* before = nullptr;
  for (const ProducerRow& row : rows) {
    BW_TRY(CheckRow(row));
    if (before != nullptr && before->producer >= row.producer) return Corrupt("rows are out of order", row);
    before = &row;
  }
  return {};
}

Result<void> CheckContiguous(std::span<const ArchiveRef> refs) {
  const ArchiveRef* before = nullptr;
  for (const ArchiveRef& ref : refs) {
    BW_TRY(CheckArchiveRef(ref));
    if (ref.kind == ArchiveRef::Kind::kRows) return Corrupt("archived rows among archived entries", ref);
    if (before != nullptr && before->end != ref.first) return Corrupt("archived steps are not contiguous", ref);
    before = &ref;
  }
  return {};
}

flatbuffers::Offset<wire::ProducerRow> WriteRow(flatbuffers::FlatBufferBuilder& builder, const ProducerRow& row) {
  const auto producer_at = builder.CreateString(row.producer);
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> cursor_at = 0;
  if (row.cursor) {
    cursor_at = builder.CreateVector(reinterpret_cast<const uint8_t*>(row.cursor->data()), row.cursor->size());
  }
  const flatbuffers::Optional<uint64_t> step =
      row.step ? flatbuffers::Optional<uint64_t>(row.step->value) : flatbuffers::nullopt;
  return wire::CreateProducerRow(builder, producer_at, row.incarnation.value, row.opening_nonce, row.seq, step,
                                 static_cast<uint8_t>(row.state), cursor_at);
}

wire::ArchiveRef WriteArchiveRef(const ArchiveRef& ref) {
  return wire::ArchiveRef(ref.version.value, ref.nonce, ref.first.value, ref.end.value, ref.object_bytes,
                          ref.payload_bytes, ToWire(ref.hash), static_cast<uint8_t>(ref.kind), ref.level);
}

Result<ProducerRow> ReadRow(const wire::ProducerRow& table, CopyBudget& budget) {
  const auto* cursor = table.cursor();
  if (!budget.Take(table.producer()->size() + (cursor == nullptr ? uint64_t{0} : cursor->size()))) {
    return Error{ErrorCode::kCorrupt, "rows are stored twice over"};
  }
  ProducerRow row{.producer = table.producer()->str(),
                  .incarnation = {table.incarnation()},
                  .opening_nonce = table.opening_nonce(),
                  .seq = table.seq(),
                  .state = static_cast<ProducerRow::State>(table.state())};
  if (row.state > ProducerRow::State::kGone) return Corrupt("row has an unknown state", row);
  if (table.step()) row.step = Step{*table.step()};
  if (cursor != nullptr) {
    const auto* data = reinterpret_cast<const std::byte*>(cursor->data());
    row.cursor.emplace(data, data + cursor->size());
  }
  return row;
}

Result<ArchiveRef> ReadArchiveRef(const wire::ArchiveRef& wire) {
  const ArchiveRef ref{.kind = static_cast<ArchiveRef::Kind>(wire.kind()),
                       .version = {wire.version()},
                       .nonce = wire.nonce(),
                       .first = {wire.first()},
                       .end = {wire.end()},
                       .object_bytes = wire.object_bytes(),
                       .hash = FromWire(wire.hash()),
                       .level = wire.level(),
                       .payload_bytes = wire.payload_bytes()};
  if (ref.kind > ArchiveRef::Kind::kRows) return Corrupt("archived object is of an unknown kind", ref);
  return ref;
}

}  // namespace batchweave
