// What travels between a producer and the workers that write parts of its batch.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "batchweave/format/part_message.h"

namespace batchweave::python {

// Raises TypeError where something else is in the list.
std::vector<PartReceipt> ToReceipts(const nanobind::list& receipts);

}  // namespace batchweave::python
