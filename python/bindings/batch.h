// A global batch on its way to a producer.
#pragma once

#include <memory>

#include "batchweave/producer/global_batch.h"

namespace batchweave::python {

// Shared: a call of Publish that outlives an interrupted one still holds its batch.
struct FilledBatch {
  std::shared_ptr<GlobalBatch> batch;  // Null once it was given away.
};

}  // namespace batchweave::python
