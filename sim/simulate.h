// One simulation, from its seed to its verdict.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/checker.h"
#include "sim/network.h"

namespace batchweave::sim {

struct SimulateOptions {
  bool print_trace = false;  // Each line as it comes, to standard error.
};

struct Outcome {
  uint64_t seed = 0;
  uint64_t trace_hash = 0;  // Alike for two runs of one seed.
  std::vector<Violation> violations{};
  std::string story{};      // What led to the first of them.
  uint64_t operations = 0;  // Requests and reports.
  uint64_t commits = 0;
  uint64_t steps = 0;
  SimTime simulated{};
  FaultCounts faults{};
};

Outcome Simulate(uint64_t seed, const SimulateOptions& options = {});

}  // namespace batchweave::sim
