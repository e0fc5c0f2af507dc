// A store that hands every call on: what stores of tests do with the calls that they do not change.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "batchweave/store/object_store.h"

namespace batchweave {

// As safe for concurrent use as its base.
class ForwardingStore : public ObjectStore {
 public:
  // `base` must outlive the store.
  explicit ForwardingStore(ObjectStore& base) : base_(base) {}

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override {
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

 protected:
  ObjectStore& base() const { return base_; }

 private:
  ObjectStore& base_;
};

}  // namespace batchweave
