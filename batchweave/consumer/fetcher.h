// Gets one rank's slices of one step: plan, buffers, GET, verification.
#pragma once

#include <cstdint>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/consumer/buffer_pool.h"
#include "batchweave/consumer/mesh.h"
#include "batchweave/consumer/rank_batch.h"
#include "batchweave/consumer/read_plan.h"
#include "batchweave/consumer/step_index.h"
#include "batchweave/log/manifest_log.h"

namespace batchweave {

struct FetcherOptions {
  MeshRank rank;
  bool allow_uneven = false;
  uint64_t idle_buffer_bytes_max = 0;  // Of the pool.
};

// The slices of a step that a rank reads. Errors: kMeshMismatch (which step).
Result<GridRange> SlicesOfStep(const KnownStep& known, const MeshRank& rank, bool allow_uneven);

// What the requests of one fetch cost, whether or not it succeeded.
struct FetchCost {
  uint64_t gets = 0;
  uint64_t bytes = 0;  // Received.
};

// Safe for concurrent use. Holds no state but the pool.
class Fetcher {
 public:
  // `log` must outlive the fetcher; batches may outlive both.
  Fetcher(ManifestLog& log, FetcherOptions options);

  // One try. The batch's bytes are those that were committed for this rank's coordinate (I10): every length and every
  // trailer was checked. An object that is not there is looked up again in the newest manifest.
  // Errors: kUnavailable and kCorrupt (short, altered or foreign bytes: the message names key, step, coordinate, expected
  // and found; try again before believing it), kTrimmed, kMeshMismatch, kDenied, kIncompatible, kNotFound (the stream was
  // deleted).
  Result<RankBatch> FetchOne(const KnownStep& known, FetchCost& cost);

 private:
  Result<RankBatch> Read(const KnownStep& known, FetchCost& cost);
  Result<std::vector<Part>> PartsWithLengths(const Entry& entry, const GridRange& wanted, FetchCost& cost);
  Result<std::vector<uint64_t>> LengthsInFooter(const Entry& entry, const Part& part, FetchCost& cost);
  std::string KeyOf(const Entry& entry, uint64_t nonce) const;

  ManifestLog& log_;
  ObjectStore& store_;
  const FetcherOptions options_;
  BufferPool pool_;
};

}  // namespace batchweave
