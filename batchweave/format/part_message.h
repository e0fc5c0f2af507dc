// What travels between a producer and the workers that fill parts of one batch: a ticket to them, a receipt back from
// each. Bytes that may go by any queue or file; they are never stored in the stream itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"
#include "batchweave/format/entry.h"
#include "batchweave/format/grid.h"
#include "batchweave/format/tgb.h"

namespace batchweave {

// Leave to write any part of one batch.
struct PartTicket {
  TgbIdentity identity{};
  Grid grid{};
  std::string content_type{};
  uint64_t schema_hash = 0;
  uint64_t nonce = 0;  // Tells this ticket from an earlier one for the same seq, which was dropped.
  friend bool operator==(const PartTicket&, const PartTicket&) = default;
};

// One part that is written: its place, its exact key (by Part::nonce), and what the batch's digest needs of it.
struct PartReceipt {
  PartTicket ticket{};
  Part part{};                       // Its slice_bytes are never left to the footer.
  std::vector<uint64_t> trailers{};  // In layout order of the part's range.
  friend bool operator==(const PartReceipt&, const PartReceipt&) = default;
};

// The rules that a ticket, a receipt keep whatever stream they are of. Errors: kCorrupt (says which rule).
Result<void> CheckPartTicket(const PartTicket& ticket);
Result<void> CheckPartReceipt(const PartReceipt& receipt);

// What is encoded must pass its check.
Bytes EncodePartTicket(const PartTicket& ticket);
Bytes EncodePartReceipt(const PartReceipt& receipt);

// What comes out passes its check. Errors: kCorrupt (says which check failed), kIncompatible (of newer software).
Result<PartTicket> DecodePartTicket(ByteView message);
Result<PartReceipt> DecodePartReceipt(ByteView message);

}  // namespace batchweave
