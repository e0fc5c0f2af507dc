// Producers of the simulation: the program that a source runs, with its part workers, and who keeps it running.
#pragma once

#include "sim/world.h"

namespace batchweave::sim {

// Starts the process of these sources, and again after each crash, until the last batch of each is committed; now and then a
// second one beside it. Returns once that is known; holders that were stopped may come back later.
void KeepProducers(World& world, const std::vector<ProducerPlan>& plans);

}  // namespace batchweave::sim
