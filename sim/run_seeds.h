// Many seeds, in several processes: a run that crashes or hangs costs its own process, and is told as a breach.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/simulate.h"

namespace batchweave::sim {

struct RunOptions {
  uint64_t first_seed = 1;
  uint64_t seeds = 1;
  unsigned jobs = 1;
  std::string until{};  // Stop at the first breach of this invariant; empty: at none.
  // Is told of each outcome as it comes, in no order of seeds.
  std::function<void(const Outcome&)> on_outcome{};
};

struct Totals {
  uint64_t seeds = 0;
  uint64_t violations = 0;  // Seeds with a breach.
  std::string found{};      // The breach that it was to stop at: "I5: ...".
  uint64_t operations = 0;
  uint64_t commits = 0;
  SimTime simulated{};
  FaultCounts faults{};
};

Totals RunSeeds(const RunOptions& options);

}  // namespace batchweave::sim
