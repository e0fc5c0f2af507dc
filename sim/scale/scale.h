// `bw_sim scale`: laws of committing side by side, from one producer to ten thousand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace batchweave::sim {

struct ScaleOptions {
  bool full = false;  // Every store, every interval of `fixed`, long manifests.
  bool json = false;  // The last line is one JSON object.
  size_t jobs = 1;
  double memory_gib = 0;  // Of all jobs together; 0: four fifths of the machine's.
  // Where not empty, these alone.
  std::vector<std::string> policies{};
  std::vector<size_t> producers{};
  std::string profile{};
  std::vector<double> intervals_s{};  // Of `fixed`.
  std::vector<size_t> steps{};
  double window_s = 0;
  uint64_t seed = 1;
  double rate = 0.2;
  double rate_spread = 0;
  std::vector<std::string> troubles{};  // By name.
};

// Returns the exit status: 0 where every run came to its end, and what users get keeps what docs/commit-control.md promises.
int RunScale(const ScaleOptions& options);

}  // namespace batchweave::sim
