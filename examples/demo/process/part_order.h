// What a producer asks of a worker that fills a part of a batch, and what comes back: a line of JSON each way, though it
// could be any queue between any hosts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "batchweave/base/result.h"
#include "batchweave/format/grid.h"
#include "batchweave/format/part_message.h"

namespace batchweave::demo {

struct PartOrder {
  PartTicket ticket;
  GridRange range;     // Which part.
  std::string cursor;  // Where the batch begins in the producer's share.
};

struct PartDone {
  PartReceipt receipt;
  std::string cursor;          // Behind the batch.
  uint64_t samples_ended = 0;  // In the whole batch.
};

std::string ToLine(const PartOrder& order);
std::string ToLine(const PartDone& done);

// Errors: kCorrupt (no such line).
Result<PartOrder> ParsePartOrder(std::string_view line);
Result<PartDone> ParsePartDone(std::string_view line);

}  // namespace batchweave::demo
