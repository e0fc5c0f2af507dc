// What each process of a soak does until it is killed or done. Each opens everything anew, as a process that was started
// by hand would.
#pragma once

#include <cstdint>
#include <string>

#include "batchweave/base/clock.h"
#include "batchweave/base/result.h"
#include "batchweave/consumer/mesh.h"
#include "bench/soak/folder.h"

namespace batchweave::bench {

struct ProducerTask {
  uint64_t number = 0;
  Duration period{};            // About a batch in so long.
  uint64_t max_lead_steps = 0;  // So far ahead of the slowest group; 0: no limit.
};

// Publishes numbered batches, each tenth in two parts, written by workers if they are there; when told to stop it
// finishes. Errors: of the producer.
Result<void> RunSoakProducer(const SoakFolder& folder, const ProducerTask& task);

struct RankTask {
  std::string group{};
  MeshRank mesh{};
  size_t rank = 0;  // Among the job's; 0 opens the session and registers checkpoints.
  size_t ranks = 1;
  uint64_t life = 0;              // Of the job: each has a session of its own.
  uint64_t checkpoint_every = 0;  // Steps.
  Duration slowed{};              // A step takes so much longer, until told to stop.
};

// Reads to the end of the stream, and leaves a record of each step.
// Errors: of the group and the consumer; kCorrupt: not what was published, or not what this rank got before.
Result<void> RunSoakRank(const SoakFolder& folder, const RankTask& task);

// Reclaims, again and again. Errors: those of Reclaim.
Result<void> RunSoakReclaimer(const SoakFolder& folder);

}  // namespace batchweave::bench
