// A store that kills or stops its process, as `kill -9` or `kill -STOP` would, at the Nth call: before or after its effect.
#pragma once

#include <atomic>
#include <csignal>
#include <cstddef>
#include <utility>

#include "batchweave/testing/store_call.h"

namespace batchweave {

struct KillPoint {
  size_t call = 0;  // From 1, of those that `filter` means; 0: never.
  bool after_effect = false;
  int signal = SIGKILL;
  CallFilter filter{};
};

// For child processes. Safe for concurrent use.
class KillingStore final : public ObjectStore {
  template <typename Names, typename Effect>
  auto Around(StoreCall call, const Names& names, Effect effect) {
    const bool last = point_.filter.Means(call, names) && ++calls_ == point_.call;
    if (last && !point_.after_effect) std::raise(point_.signal);
    auto result = effect();
    if (last && point_.after_effect) std::raise(point_.signal);
    return result;
  }

 public:
  // `base` must outlive the store.
  KillingStore(ObjectStore& base, KillPoint point) : base_(base), point_(std::move(point)) {}

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override {
    return Around(CallOf(mode), key, [&] { return base_.Put(key, pieces, mode); });
  }
  Result<void> Get(std::span<ReadRequest> requests) override {
    return Around(kCallGet, std::span<const ReadRequest>(requests), [&] { return base_.Get(requests); });
  }
  Result<Bytes> Read(std::string_view key) override {
    return Around(kCallRead, key, [&] { return base_.Read(key); });
  }
  Result<uint64_t> Stat(std::string_view key) override {
    return Around(kCallStat, key, [&] { return base_.Stat(key); });
  }
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override {
    return Around(kCallList, prefix, [&] { return base_.List(prefix, start_after, limit); });
  }
  Result<void> Delete(std::span<const std::string> keys) override {
    return Around(kCallDelete, keys, [&] { return base_.Delete(keys); });
  }
  StoreTraits traits() const override { return base_.traits(); }

 private:
  ObjectStore& base_;
  const KillPoint point_;
  std::atomic<size_t> calls_{0};
};

}  // namespace batchweave
