// Producers of the simulation: the program that a source runs, with its part workers, and who keeps it running.
#pragma once

#include "sim/world.h"

namespace batchweave::sim {

// Starts the source's process, and again after each crash, until its last batch is committed; now and then a second one
// beside it. Returns once that is known; holders that were stopped may come back later.
void KeepProducer(World& world, const ProducerPlan& plan);

}  // namespace batchweave::sim
