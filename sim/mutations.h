// Runs the simulator of the mutants' build once for each mutation: a checker that cannot fail proves nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batchweave/base/mutation.h"

namespace batchweave::sim {

struct MutationRun {
  Mutation mutation;
  bool caught = false;
  uint64_t seeds = 0;  // Until it was caught, or in vain.
  std::string by{};    // The first breach of its invariant: "I5: ...".
};

struct MutationOptions {
  std::string binary;  // bw_sim of the mutants' build.
  uint64_t first_seed = 1;
  uint64_t seeds_max = 0;  // A mutation that is not caught within so many has got away.
  unsigned jobs = 1;
  std::vector<Mutation> only{};  // Empty: all.
};

// The same binary with none of them made must break nothing, or what it breaks with one proves nothing. What is wrong,
// else empty.
std::string CheckUnmutated(const MutationOptions& options);

// A mutation is caught by the checker of the invariant that it breaches, and by no other. Prints a line a mutation as it
// goes.
std::vector<MutationRun> RunMutations(const MutationOptions& options);

}  // namespace batchweave::sim
