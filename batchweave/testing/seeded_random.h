// Chance that repeats: the same seed gives the same numbers.
#pragma once

#include <atomic>
#include <cstdint>

#include "batchweave/base/random.h"

namespace batchweave {

// SplitMix64. Safe for concurrent use; which thread gets which number then depends on the threads.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}

  uint64_t Next() override;

 private:
  std::atomic<uint64_t> state_;
};

}  // namespace batchweave
