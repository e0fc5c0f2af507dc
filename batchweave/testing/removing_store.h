// A store that overwrites by removing and writing, as some servers do: what races it may find the slot open (fault M5).
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "batchweave/testing/forwarding_store.h"

namespace batchweave {

// Safe for concurrent use.
class RemovingStore final : public ForwardingStore {
 public:
  // `base` must outlive the store.
  explicit RemovingStore(ObjectStore& base) : ForwardingStore(base) {}

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override {
    if (mode == PutMode::kCreate) {
      const Result<void> created = base().Put(key, pieces, mode);
      ++creates_;
      return created;
    }
    const std::string removed(key);
    BW_TRY(base().Delete({&removed, 1}));
    // Until somebody has come by, or for long enough that nobody will.
    for (int spins = 0, seen = creates_; spins < 100'000 && creates_ == seen; ++spins) std::this_thread::yield();
    return base().Put(key, pieces, mode);
  }

 private:
  std::atomic<int> creates_{0};
};

}  // namespace batchweave
