// Batches of bytes that mean nothing, for streams that exist to be measured.
#pragma once

#include <cstdint>
#include <memory>

#include "batchweave/base/random.h"
#include "batchweave/base/result.h"
#include "batchweave/producer/producer.h"

namespace batchweave::bench {

inline constexpr uint64_t kMiB = uint64_t{1} << 20;

struct BatchShape {
  Grid grid;
  uint64_t slice_bytes = 0;
  uint64_t bytes() const { return grid.slices() * slice_bytes; }
};

// Random bytes for the slices of batches of one shape. Batches refer to them, so that publishing copies nothing.
class SamplePayload {
 public:
  SamplePayload(Random& random, BatchShape shape);

  const BatchShape& shape() const { return shape_; }
  ByteView SliceAt(Coordinate at) const;

  // A complete batch, whose slices are these.
  GlobalBatch MakeBatch() const;

 private:
  const BatchShape shape_;
  std::shared_ptr<const Bytes> bytes_;  // Shared with the batches.
};

// Publishes `steps` batches and waits until all are committed, in as few versions as it happens. Errors: of the producer.
Result<void> PublishSteps(Producer& producer, const SamplePayload& payload, uint64_t steps);

// Publishes one batch and waits until it is committed: a version for it alone. Errors: of the producer.
Result<void> PublishAndCommit(Producer& producer, GlobalBatch batch);

}  // namespace batchweave::bench
