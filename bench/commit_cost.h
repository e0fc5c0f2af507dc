// What a commit costs in streams of two ages, for as long as it takes each to archive its history twice over.
#pragma once

#include <cstdint>

#include "batchweave/base/result.h"
#include "bench/long_stream.h"

namespace batchweave::bench {

struct CommitCost {  // Of one commit, on average.
  double seconds = 0;
  double bytes = 0;  // Read and written.
  double requests = 0;
  uint64_t commits = 0;  // That were measured.
};

struct CommitCosts {
  CommitCost young;
  CommitCost old;
  double time_ratio() const { return old.seconds / young.seconds; }
  double bytes_ratio() const { return old.bytes / young.bytes; }
  double requests_ratio() const { return old.requests / young.requests; }
  double worst_ratio() const;
};

// Builds a stream of `shape` and one of kLongStreamStepsMin steps, alike else, in memory, and commits to both in turns,
// one entry a version. Errors: those of the log.
Result<CommitCosts> CompareCommits(const LongStreamShape& shape);

}  // namespace batchweave::bench
