// A store in which others are faster: before the calls that a test names, something else is done, such as committing the
// version that a put is for.
#pragma once

#include <functional>
#include <set>
#include <utility>

#include "batchweave/testing/store_call.h"

namespace batchweave {

// Not safe for concurrent use.
class OutrunStore final : public ObjectStore {
 public:
  // `rival` runs before the calls number `calls`, from 1, of those that `filter` means; it must not use this store. `base`
  // must outlive the store.
  OutrunStore(ObjectStore& base, CallFilter filter, std::set<size_t> calls, std::function<void()> rival)
      : base_(base), filter_(std::move(filter)), calls_(std::move(calls)), rival_(std::move(rival)) {}

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override {
    Meet(CallOf(mode), key);
    return base_.Put(key, pieces, mode);
  }
  Result<void> Get(std::span<ReadRequest> requests) override {
    Meet(kCallGet, std::span<const ReadRequest>(requests));
    return base_.Get(requests);
  }
  Result<Bytes> Read(std::string_view key) override {
    Meet(kCallRead, key);
    return base_.Read(key);
  }
  Result<uint64_t> Stat(std::string_view key) override {
    Meet(kCallStat, key);
    return base_.Stat(key);
  }
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override {
    Meet(kCallList, prefix);
    return base_.List(prefix, start_after, limit);
  }
  Result<void> Delete(std::span<const std::string> keys) override {
    Meet(kCallDelete, keys);
    return base_.Delete(keys);
  }
  StoreTraits traits() const override { return base_.traits(); }

 private:
  template <typename Names>
  void Meet(StoreCall call, const Names& names) {
    if (filter_.Means(call, names) && calls_.contains(++met_)) rival_();
  }

  ObjectStore& base_;
  const CallFilter filter_;
  const std::set<size_t> calls_;
  const std::function<void()> rival_;
  size_t met_ = 0;
};

}  // namespace batchweave
