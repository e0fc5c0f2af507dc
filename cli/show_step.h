// One step, as `batchweave show --step` prints it.
#pragma once

#include "batchweave/base/result.h"
#include "batchweave/stream/stream.h"
#include "cli/console.h"

namespace batchweave::cli {

// Errors: those of DescribeStep.
Result<void> ShowStep(Console& console, Stream& stream, Step step);

}  // namespace batchweave::cli
