#include "batchweave/producer/write_part.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "batchweave/base/fault_point.h"
#include "batchweave/base/mutation.h"
#include "batchweave/store/retrying_store.h"

namespace batchweave {
namespace {

// A worker that cannot write for so long is better told than kept.
constexpr Duration kWriteTime = std::chrono::minutes(2);

Error Refuse(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

Result<void> CheckContent(const StreamKeys& keys, const PartTicket& ticket, const PartContent& content) {
  if (const Result<void> checked = CheckPartTicket(ticket); !checked.ok()) return Refuse(checked.error().message);
  if (ticket.identity.stream_id != keys.stream_id) {
    return Refuse(fmt::format("the ticket is of another stream: found={} expected={}",
                              ToString(ticket.identity.stream_id), ToString(keys.stream_id)));
  }
  const GridRange& range = content.range;
  if (!IsRangeOf(ticket.grid, range)) {
    return Refuse(fmt::format("the range is empty or outside the grid: dp={}+{} cp={}+{} grid={}x{}", range.dp_begin,
                              range.dp_count, range.cp_begin, range.cp_count, ticket.grid.dp, ticket.grid.cp));
  }
  const Grid shape = content.slices.grid();
  if (shape.dp != range.dp_count || shape.cp != range.cp_count) {
    return Refuse(fmt::format("the slices have not the shape of the range: found={}x{} expected={}x{}", shape.dp,
                              shape.cp, range.dp_count, range.cp_count));
  }
  if (content.provenance.size() > kProvenanceBytesMax) {
    return Refuse(
        fmt::format("the provenance is too long: bytes={} max={}", content.provenance.size(), kProvenanceBytesMax));
  }
  return content.slices.CheckComplete();
}

}  // namespace

Result<PartReceipt> WritePart(Env env, const StreamKeys& keys, const PartTicket& ticket, const PartContent& content) {
  BW_TRY(CheckContent(keys, ticket, content));
  const uint64_t nonce = BW_MUTATION(kPartsShareANonce) ? ticket.nonce : env.random.Next();
  PackedPart packed = PackPart(ticket, content, nonce);
  const TgbIdentity& whose = ticket.identity;
  const std::string key = keys.Data(whose.producer, whose.incarnation, whose.seq, packed.part.nonce);
  BW_TRY(PutUnique(env, key, packed.object.pieces, After(env.clock.Now(), kWriteTime)));
  BW_FAULT_POINT("part.written");
  return PartReceipt{.ticket = ticket, .part = std::move(packed.part), .trailers = std::move(packed.trailers)};
}

}  // namespace batchweave
