// Chance, from outside: the operating system's in production, seeded in the simulator and in tests.
#pragma once

#include <cstdint>

namespace batchweave {

// Safe for concurrent use.
class Random {
 public:
  virtual ~Random() = default;

  // 64 random bits.
  virtual uint64_t Next() = 0;
};

// Uniform in [0, 1).
double NextUnit(Random& random);

// The operating system's generator, asked anew at each call: a forked child never repeats its parent (fault M8).
class SystemRandom final : public Random {
 public:
  uint64_t Next() override;
};

}  // namespace batchweave
