// What one rank gets of one step: its slices of the global batch, verified, in buffers that go back to the consumer's
// pool when the batch is destroyed. May outlive the consumer. Move-only; not safe for concurrent use.
#pragma once

#include <memory>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/consumer/buffer_pool.h"
#include "batchweave/format/entry.h"

namespace batchweave {

struct Slice {
  Coordinate at;   // In the batch's grid.
  ByteView bytes;  // Lies in the batch's buffer, begun at a multiple of 64 bytes. Empty for a slice of 0 bytes.
};

class RankBatch {
 public:
  RankBatch(Step step, std::shared_ptr<const Entry> entry, std::vector<Slice> slices,
            std::vector<PooledBuffer> buffers);

  Step step() const { return step_; }
  // What the manifest says of the global batch: producer, seq, grid, samples, content type, metadata.
  const Entry& entry() const { return *entry_; }
  // In layout order: cp outermost, dp innermost.
  const std::vector<Slice>& slices() const { return slices_; }

 private:
  Step step_;
  // Shared with the prefetch window and its threads, whichever is done with the step last.
  std::shared_ptr<const Entry> entry_;
  std::vector<Slice> slices_;
  std::vector<PooledBuffer> buffers_;
};

}  // namespace batchweave
