// From the receipts of a batch's parts to the entry that names them all. Pure.
#pragma once

#include <span>

#include "batchweave/base/result.h"
#include "batchweave/format/entry.h"
#include "batchweave/format/part_message.h"
#include "batchweave/producer/producer.h"

namespace batchweave {

// The entry of the batch of `ticket`, the same whatever the order of `receipts`. What a worker wrote under another ticket,
// or wrote a second time, is named only by a receipt that is not among them, and so never read (fault M4).
// Errors: kInvalidArgument, each with what came and what was expected: a receipt of another stream, producer,
// incarnation, batch, ticket, grid or content type; one that came twice; parts that overlap; a slice that no part holds;
// too many parts.
Result<Entry> JoinParts(const PartTicket& ticket, std::span<const PartReceipt> receipts, const PublishOptions& options);

}  // namespace batchweave
