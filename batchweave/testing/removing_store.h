// A store that overwrites by removing and writing, as some servers do: what races it may find the slot open (fault M5).
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "batchweave/store/object_store.h"

namespace batchweave {

// Safe for concurrent use.
class RemovingStore final : public ObjectStore {
 public:
  // `base` must outlive the store.
  explicit RemovingStore(ObjectStore& base) : base_(base) {}

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override {
    if (mode == PutMode::kCreate) {
      const Result<void> created = base_.Put(key, pieces, mode);
      ++creates_;
      return created;
    }
    const std::string removed(key);
    BW_TRY(base_.Delete({&removed, 1}));
    // Until somebody has come by, or for long enough that nobody will.
    for (int spins = 0, seen = creates_; spins < 100'000 && creates_ == seen; ++spins) std::this_thread::yield();
    return base_.Put(key, pieces, mode);
  }
  Result<void> Get(std::span<ReadRequest> requests) override { return base_.Get(requests); }
  Result<Bytes> Read(std::string_view key) override { return base_.Read(key); }
  Result<uint64_t> Stat(std::string_view key) override { return base_.Stat(key); }
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override {
    return base_.List(prefix, start_after, limit);
  }
  Result<void> Delete(std::span<const std::string> keys) override { return base_.Delete(keys); }
  StoreTraits traits() const override { return base_.traits(); }

 private:
  ObjectStore& base_;
  std::atomic<int> creates_{0};
};

}  // namespace batchweave
