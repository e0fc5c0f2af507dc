// Writes one part of a batch, on any host: what a worker needs is a ticket and the stream, no producer.
#pragma once

#include "batchweave/base/result.h"
#include "batchweave/format/keys.h"
#include "batchweave/format/part_message.h"
#include "batchweave/producer/pack.h"
#include "batchweave/store/env.h"

namespace batchweave {

// Writes an object of its own at each call, and returns the receipt for it. Of the slices' options nothing is used: the
// ticket says the content type. Nothing is visible before the producer publishes the receipt, and a part whose receipt
// it never gets, refuses or does without is garbage: a worker that is run twice, or too late, harms nothing (fault M4).
// Ends within 2 minutes and the time of one call of the store.
// Errors: kInvalidArgument (a ticket of another stream, a range outside the grid, slices of another shape or missing,
// provenance that is too long), kDenied, kUnavailable (nothing was written: call again), kUnknownOutcome (call again,
// which writes another object).
Result<PartReceipt> WritePart(Env env, const StreamKeys& keys, const PartTicket& ticket, const PartContent& content);

}  // namespace batchweave
