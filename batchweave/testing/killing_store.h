// A store that kills its process, as `kill -9` would, at the Nth call: before or after the call's effect.
#pragma once

#include <atomic>
#include <csignal>
#include <cstddef>

#include "batchweave/store/object_store.h"

namespace batchweave {

struct KillPoint {
  size_t call = 0;  // From 1; 0: never.
  bool after_effect = false;
};

// For child processes. Safe for concurrent use.
class KillingStore final : public ObjectStore {
  template <typename Call>
  auto Around(Call call) {
    const bool last = ++calls_ == point_.call;
    if (last && !point_.after_effect) std::raise(SIGKILL);
    auto result = call();
    if (last) std::raise(SIGKILL);
    return result;
  }

 public:
  // `base` must outlive the store.
  KillingStore(ObjectStore& base, KillPoint point) : base_(base), point_(point) {}

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override {
    return Around([&] { return base_.Put(key, pieces, mode); });
  }
  Result<void> Get(std::span<ReadRequest> requests) override {
    return Around([&] { return base_.Get(requests); });
  }
  Result<Bytes> Read(std::string_view key) override {
    return Around([&] { return base_.Read(key); });
  }
  Result<uint64_t> Stat(std::string_view key) override {
    return Around([&] { return base_.Stat(key); });
  }
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override {
    return Around([&] { return base_.List(prefix, start_after, limit); });
  }
  Result<void> Delete(std::span<const std::string> keys) override {
    return Around([&] { return base_.Delete(keys); });
  }
  StoreTraits traits() const override { return base_.traits(); }

 private:
  ObjectStore& base_;
  const KillPoint point_;
  std::atomic<size_t> calls_{0};
};

}  // namespace batchweave
