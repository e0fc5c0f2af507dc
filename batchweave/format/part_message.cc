#include "batchweave/format/part_message.h"

#include <flatbuffers/flatbuffers.h>

#include <span>
#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/format/entry_codec.h"
#include "batchweave/format/keys.h"
#include "batchweave/format/object_frame.h"
#include "batchweave/format/parts_generated.h"
#include "batchweave/format/slice_lengths.h"
#include "batchweave/format/verified_root.h"
#include "batchweave/format/wire_hash.h"

namespace batchweave {
namespace {

Error Corrupt(std::string_view reason) { return {ErrorCode::kCorrupt, std::string(reason)}; }

Bytes FinishMessage(flatbuffers::FlatBufferBuilder& builder, ObjectKind kind) {
  return EncodeFramed(kind, std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize())));
}

flatbuffers::Offset<wire::PartTicket> WriteTicket(flatbuffers::FlatBufferBuilder& builder, const PartTicket& ticket) {
  const auto producer_at = builder.CreateString(ticket.identity.producer);
  const auto content_type_at = ticket.content_type.empty() ? 0 : builder.CreateString(ticket.content_type);
  const wire::Hash128 stream_id = ToWire(ticket.identity.stream_id.bits);
  return wire::CreatePartTicket(builder, &stream_id, producer_at, ticket.identity.incarnation.value,
                                ticket.identity.seq, ticket.grid.dp, ticket.grid.cp, content_type_at,
                                ticket.schema_hash, ticket.nonce);
}

PartTicket ReadTicket(const wire::PartTicket& table) {
  PartTicket ticket{.identity = {.stream_id = {FromWire(*table.stream_id())},
                                 .producer = table.producer()->str(),
                                 .incarnation = {table.incarnation()},
                                 .seq = table.seq()},
                    .grid = {.dp = table.dp(), .cp = table.cp()},
                    .schema_hash = table.schema_hash(),
                    .nonce = table.nonce()};
  if (table.content_type() != nullptr) ticket.content_type = table.content_type()->str();
  return ticket;
}

Result<Part> ReadPart(const wire::PartReceipt& table, CopyBudget& budget) {
  std::span<const uint8_t> lengths;
  if (table.lengths() != nullptr) lengths = {table.lengths()->data(), table.lengths()->size()};
  if (!budget.Take(lengths.size())) return Corrupt("slice lengths are stored twice over");
  Part part = BW_TRY(ReadPartOfGrid(*table.part(), lengths));
  if (!lengths.empty()) return Corrupt("more slice lengths than slices");
  return part;
}

Result<std::vector<uint64_t>> ReadTrailers(const wire::PartReceipt& table, CopyBudget& budget) {
  if (table.trailers() == nullptr) return std::vector<uint64_t>();
  if (!budget.Take(uint64_t{table.trailers()->size()} * kTrailerBytes)) {
    return Corrupt("trailers are stored twice over");
  }
  if (!AreStructsAligned(table.trailers()->Data())) return Corrupt("trailers lie unaligned");
  return std::vector<uint64_t>(table.trailers()->begin(), table.trailers()->end());
}

}  // namespace

Result<void> CheckPartTicket(const PartTicket& ticket) {
  if (!CheckName("producer", ticket.identity.producer).ok()) return Corrupt("ticket has no valid producer");
  if (ticket.identity.incarnation == Incarnation{} || ticket.identity.seq == 0) {
    return Corrupt("ticket has no incarnation or seq");
  }
  if (!IsGrid(ticket.grid)) return Corrupt("ticket's grid is empty or too large");
  if (!IsContentType(ticket.content_type)) return Corrupt("ticket has no valid content type");
  return {};
}

Result<void> CheckPartReceipt(const PartReceipt& receipt) {
  BW_TRY(CheckPartTicket(receipt.ticket));
  if (!IsRangeOf(receipt.ticket.grid, receipt.part.range)) return Corrupt("part is not in its ticket's grid");
  if (receipt.part.slice_bytes.empty()) return Corrupt("receipt has no slice lengths");
  BW_TRY(CheckPart(receipt.part));
  if (receipt.trailers.size() != receipt.part.range.slices()) return Corrupt("receipt has not one trailer a slice");
  return {};
}

Bytes EncodePartTicket(const PartTicket& ticket) {
  BW_CHECK(CheckPartTicket(ticket).ok());
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(WriteTicket(builder, ticket));
  return FinishMessage(builder, ObjectKind::kPartTicket);
}

Bytes EncodePartReceipt(const PartReceipt& receipt) {
  BW_CHECK(CheckPartReceipt(receipt).ok());
  flatbuffers::FlatBufferBuilder builder;
  std::vector<uint8_t> lengths;
  const wire::PartOfGrid part = WritePartOfGrid(receipt.part, lengths);
  const auto ticket_at = WriteTicket(builder, receipt.ticket);
  const auto lengths_at = lengths.empty() ? 0 : builder.CreateVector(lengths);
  const auto trailers_at = builder.CreateVector(receipt.trailers);
  builder.Finish(wire::CreatePartReceipt(builder, ticket_at, &part, lengths_at, trailers_at));
  return FinishMessage(builder, ObjectKind::kPartReceipt);
}

Result<PartTicket> DecodePartTicket(ByteView message) {
  const AlignedBlock block(BW_TRY(DecodeWholeBlock(ObjectKind::kPartTicket, message)));
  PartTicket ticket = ReadTicket(*BW_TRY(VerifiedRoot<wire::PartTicket>(block.view(), "part ticket")));
  BW_TRY(CheckPartTicket(ticket));
  return ticket;
}

Result<PartReceipt> DecodePartReceipt(ByteView message) {
  const AlignedBlock block(BW_TRY(DecodeWholeBlock(ObjectKind::kPartReceipt, message)));
  const auto* table = BW_TRY(VerifiedRoot<wire::PartReceipt>(block.view(), "part receipt"));
  CopyBudget budget(block.view());
  PartReceipt receipt{.ticket = ReadTicket(*table->ticket()),
                      .part = BW_TRY(ReadPart(*table, budget)),
                      .trailers = BW_TRY(ReadTrailers(*table, budget))};
  BW_TRY(CheckPartReceipt(receipt));
  return receipt;
}

}  // namespace batchweave
