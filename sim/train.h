// Training jobs of the simulation: ranks that read, a trainer that registers checkpoints, crashes and restarts with
// another mesh, rollbacks, runs that were given up and live on.
#pragma once

#include "sim/world.h"

namespace batchweave::sim {

// Starts the job's ranks, and again after each crash, until all of them have read a sealed stream to its end.
void KeepJob(World& world, const JobPlan& plan);

}  // namespace batchweave::sim
