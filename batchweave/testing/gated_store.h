// A store whose calls a test holds and lets go, to build one interleaving of many.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

#include "batchweave/testing/store_call.h"

namespace batchweave {

// Safe for concurrent use: other threads make the calls, the test's thread works the gate.
class GatedStore final : public ObjectStore {
 public:
  // `base` must outlive the store. The gate is open at first. A call still held when the store goes is a bug of the test.
  explicit GatedStore(ObjectStore& base) : base_(base) {}

  enum class Hold { kBeforeEffect, kAfterEffect };

  // From now on the calls that `filter` means stop at the gate.
  void Close(CallFilter filter, Hold hold = Hold::kBeforeEffect);
  // Blocks until at least `count` calls stand at the gate. A test whose calls never come hangs here.
  void AwaitHeld(size_t count = 1);
  // Lets `count` of them go, or as many of the next ones; the gate stays closed.
  void Release(size_t count = 1);
  // Lets all go, and holds no more.
  void Open();

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override;
  Result<void> Get(std::span<ReadRequest> requests) override;
  Result<Bytes> Read(std::string_view key) override;
  Result<uint64_t> Stat(std::string_view key) override;
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override;
  Result<void> Delete(std::span<const std::string> keys) override;
  StoreTraits traits() const override { return base_.traits(); }

 private:
  // `effect`, with a stop at the gate before or after it if the call on `names` is meant.
  template <typename Names, typename Effect>
  auto Pass(StoreCall call, const Names& names, Effect effect);
  void Stop(std::unique_lock<std::mutex>& lock);

  ObjectStore& base_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  Hold hold_ = Hold::kBeforeEffect;
  CallFilter filter_;
  size_t held_ = 0;
  size_t may_go_ = 0;
};

}  // namespace batchweave
