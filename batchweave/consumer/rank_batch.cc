#include "batchweave/consumer/rank_batch.h"

#include <utility>

namespace batchweave {

// Shared: see rank_batch.h.
RankBatch::RankBatch(Step step, std::shared_ptr<const Entry> entry, std::vector<Slice> slices,
                     std::vector<PooledBuffer> buffers)
    : step_(step), entry_(std::move(entry)), slices_(std::move(slices)), buffers_(std::move(buffers)) {}

}  // namespace batchweave
