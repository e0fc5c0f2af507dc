// Who acts on a stream beside its producers and jobs: reclaimers, people with the command line, newer software, and fate.
#pragma once

#include "sim/world.h"

namespace batchweave::sim {

// Reclaims again and again while things go wrong; killed and started anew as chance will have it.
void KeepReclaimer(World& world);

// A person: quarantines steps and lifts that, fences producers, makes groups and drops them, upgrades.
void KeepOperator(World& world);

// Producers that are used once each, one after the other: one of several such chains.
void KeepChurn(World& world, uint32_t chain);

// Kills, stops, sets clocks and takes parts of the store down, while the storm lasts.
void KeepFate(World& world);

// Runs `body` in processes of its own until it succeeds: what must be done in the end.
void Insist(World& world, const std::string& name, const std::function<Result<void>(Process&, Stream&)>& body);

}  // namespace batchweave::sim
