// What reading costs a store in requests and bytes, counted: 64 slices of 1 MiB a step, read by 1, 8 and 64 ranks.
#pragma once

#include <cstdint>

#include "batchweave/base/result.h"
#include "bench/workspace.h"

namespace batchweave::bench {

struct ReadCost {
  double gets_per_step = 0;  // Payload GETs of a rank a step; the largest of all ranks of meshes of dp 1, 8 and 64.
  // All bytes read by all ranks over bytes delivered to them.
  double amplification_backlog = 0;  // The steps were there when the ranks came; the largest of the three meshes.
  double amplification_live = 0;     // 64 ranks followed while the steps were committed, one a version.
  uint64_t manifest_bytes = 0;       // The newest version, in the end.
};

// Publishes `steps` live steps, which take 64 MiB each on the disk. Errors: of store and stream.
Result<ReadCost> MeasureReadCost(const Workspace& workspace, uint64_t steps);

}  // namespace batchweave::bench
