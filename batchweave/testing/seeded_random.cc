#include "batchweave/testing/seeded_random.h"

namespace batchweave {

uint64_t SeededRandom::Next() {
  constexpr uint64_t kGamma = 0x9e3779b97f4a7c15;
  uint64_t bits = state_.fetch_add(kGamma, std::memory_order_relaxed) + kGamma;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

}  // namespace batchweave
