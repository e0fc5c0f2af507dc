// Producers as tasks have them: each name is used once, for a few batches, and forgotten.
#pragma once

#include <cstdint>

#include "batchweave/base/clock.h"
#include "batchweave/base/result.h"
#include "bench/soak/folder.h"

namespace batchweave::bench {

inline constexpr uint64_t kTaskBatches = 3;

// The number, among producers, of the task `task` of the runner `runner`.
constexpr uint64_t TaskNumber(uint64_t runner, uint64_t task) { return (runner + 1) * 1'000'000 + task; }

// How many tasks the runner has done, over all its lives.
uint64_t CountTasksDone(const SoakFolder& folder, uint64_t runner);

// Runs one task after the other, about a batch in `period`, until told to stop. Errors: of the producer, and of the folder.
Result<void> RunSoakTasks(const SoakFolder& folder, uint64_t runner, Duration period);

}  // namespace batchweave::bench
