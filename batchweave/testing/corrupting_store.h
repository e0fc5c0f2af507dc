// A store that hands out other bytes than it holds, and says "ok".
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>

#include "batchweave/testing/forwarding_store.h"
#include "batchweave/testing/store_call.h"

namespace batchweave {

struct Corruption {
  enum class Kind {
    kShort,  // The last byte is missing (fault F2).
    kEmpty,  // All are (fault F3).
    kFlip,   // The lowest bit of byte `position` is another.
  };
  Kind kind = Kind::kFlip;
  size_t position = 0;                                // In what is read; beyond its end nothing is flipped.
  size_t reads = std::numeric_limits<size_t>::max();  // So many of the first reads (ranges) that `filter` means.
  CallFilter filter = {};
};

// Safe for concurrent use. Observers are told of the bytes that the caller gets.
class CorruptingStore final : public ForwardingStore {
 public:
  // `base` must outlive the store.
  CorruptingStore(ObjectStore& base, Corruption corruption)
      : ForwardingStore(base), corruption_(std::move(corruption)) {}

  // Reads (ranges) that were corrupted so far.
  size_t corrupted() const { return corrupted_; }

  Result<void> Get(std::span<ReadRequest> requests) override;
  Result<Bytes> Read(std::string_view key) override;

 private:
  // Spoils `bytes` if it is their turn, and returns how many of them the caller shall get.
  size_t Corrupt(StoreCall call, std::string_view key, MutableByteView bytes);

  const Corruption corruption_;
  std::atomic<size_t> corrupted_{0};
};

}  // namespace batchweave
