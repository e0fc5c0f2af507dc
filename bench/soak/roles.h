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

inline constexpr const char* kSoakStream = "soak";
inline constexpr const char* kStopSign = "stop";
inline constexpr const char* kEndSign = "end";

std::string SoakProducerName(size_t number);

// Publishes numbered batches, about one in `period`, each tenth in two parts; when told to stop it finishes.
// Errors: of the producer.
Result<void> RunSoakProducer(const SoakFolder& folder, size_t number, Duration period);

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
