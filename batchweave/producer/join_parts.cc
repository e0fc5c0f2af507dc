#include "batchweave/producer/join_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "batchweave/base/mutation.h"
#include "batchweave/producer/pack.h"

namespace batchweave {
namespace {

Error Refuse(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

template <typename T>
Error OfAnother(std::string_view what, const T& found, const T& expected) {
  return Refuse(fmt::format("a receipt is of another {}: found={} expected={}", what, found, expected));
}

std::string TextOf(Grid grid) { return fmt::format("{}x{}", grid.dp, grid.cp); }

Result<void> CheckTicketOf(const PartReceipt& receipt, const PartTicket& expected) {
  const PartTicket& found = receipt.ticket;
  const TgbIdentity& whose = found.identity;
  if (whose.stream_id != expected.identity.stream_id) {
    return OfAnother("stream", ToString(whose.stream_id), ToString(expected.identity.stream_id));
  }
  if (whose.producer != expected.identity.producer) {
    return OfAnother("producer", whose.producer, expected.identity.producer);
  }
  if (whose.incarnation != expected.identity.incarnation) {
    return OfAnother("incarnation", whose.incarnation.value, expected.identity.incarnation.value);
  }
  const bool of_any = BW_MUTATION(kReceiptOfAnyTicket);
  if (whose.seq != expected.identity.seq && !of_any) return OfAnother("batch", whose.seq, expected.identity.seq);
  if (found.nonce != expected.nonce && !of_any) {
    return OfAnother("ticket, which was dropped", fmt::format("{:016x}", found.nonce),
                     fmt::format("{:016x}", expected.nonce));
  }
  if (found.grid != expected.grid) return OfAnother("grid", TextOf(found.grid), TextOf(expected.grid));
  if (found.content_type != expected.content_type) {
    return OfAnother("content type", found.content_type, expected.content_type);
  }
  if (found.schema_hash != expected.schema_hash) return OfAnother("schema", found.schema_hash, expected.schema_hash);
  if (const Result<void> checked = CheckPartReceipt(receipt); !checked.ok()) {
    return Refuse(fmt::format("a receipt makes no sense: {}", checked.error().message));
  }
  return {};
}

// The trailers of the parts put in their places in the whole grid, of which each must be taken once.
class TrailerGrid {
 public:
  explicit TrailerGrid(Grid grid) : grid_(grid), trailers_(grid.slices()), holders_(grid.slices()) {}

  Result<void> Add(const PartReceipt& receipt) {
    const GridRange& range = receipt.part.range;
    for (size_t i = 0; i < receipt.trailers.size(); ++i) {
      const Coordinate at{.dp = range.dp_begin + static_cast<uint32_t>(i % range.dp_count),
                          .cp = range.cp_begin + static_cast<uint32_t>(i / range.dp_count)};
      const size_t index = size_t{at.cp} * grid_.dp + at.dp;
      if (holders_[index] != nullptr) return TakenTwice(at, holders_[index]->part, receipt.part);
      holders_[index] = &receipt;
      trailers_[index] = receipt.trailers[i];
    }
    return {};
  }

  Result<Hash128> Digest() const {
    const auto missing = std::ranges::find(holders_, nullptr);
    if (missing == holders_.end()) return DigestOfTrailers(trailers_);
    const auto index = static_cast<size_t>(missing - holders_.begin());
    return Refuse(fmt::format("no part holds a slice of the batch: dp={} cp={} grid={}", index % grid_.dp,
                              index / grid_.dp, TextOf(grid_)));
  }

 private:
  static Error TakenTwice(Coordinate at, const Part& first, const Part& second) {
    if (first == second) return Refuse(fmt::format("a receipt came twice: part={:016x}", first.nonce));
    return Refuse(fmt::format("two parts hold one slice: dp={} cp={} parts={:016x} and {:016x}", at.dp, at.cp,
                              first.nonce, second.nonce));
  }

  const Grid grid_;
  std::vector<uint64_t> trailers_;
  std::vector<const PartReceipt*> holders_;
};

}  // namespace

Result<Entry> JoinParts(const PartTicket& ticket, std::span<const PartReceipt> receipts,
                        const PublishOptions& options) {
  if (receipts.size() > kPartsMax) {
    return Refuse(fmt::format("a batch has too many parts: parts={} max={}", receipts.size(), kPartsMax));
  }
  TrailerGrid trailers(ticket.grid);
  std::vector<Part> parts;
  for (const PartReceipt& receipt : receipts) {
    BW_TRY(CheckTicketOf(receipt, ticket));
    BW_TRY(trailers.Add(receipt));
    parts.push_back(receipt.part);
  }
  const Hash128 digest = BW_TRY(trailers.Digest());
  std::ranges::sort(parts, {}, [](const Part& part) { return std::tuple(part.range.cp_begin, part.range.dp_begin); });
  return EntryOf(ticket, std::move(parts), digest, options);
}

}  // namespace batchweave
