#include "batchweave/base/random.h"

#include <sys/random.h>

#include "batchweave/base/check.h"

namespace batchweave {

double NextUnit(Random& random) {
  // 53 bits: as many as a double holds exactly.
  return static_cast<double>(random.Next() >> 11) * 0x1.0p-53;
}

uint64_t SystemRandom::Next() {
  uint64_t bits = 0;
  // Up to 256 bytes getrandom(2) is neither interrupted nor short once the system's pool is ready.
  BW_CHECK(getrandom(&bits, sizeof bits, 0) == sizeof bits);
  return bits;
}

}  // namespace batchweave
