// A store in the memory of this process: `memory:` for trying things out, and the base of most tests.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <string>

#include "batchweave/store/object_store.h"

namespace batchweave {

struct MemoryStoreOptions {
  // Off: List gives keys in an order that is not bytewise, as a store without ordered LIST does (fault E3).
  bool ordered_list = true;
};

class MemoryStore final : public ObjectStore {
 public:
  explicit MemoryStore(MemoryStoreOptions options = {});

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override;
  Result<void> Get(std::span<ReadRequest> requests) override;
  Result<Bytes> Read(std::string_view key) override;
  Result<uint64_t> Stat(std::string_view key) override;
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override;
  Result<void> Delete(std::span<const std::string> keys) override;
  StoreTraits traits() const override;

 private:
  // Shared, so that a reader copies out of an object without holding the lock while it is overwritten or deleted.
  using Object = std::shared_ptr<const Bytes>;
  struct Order {
    bool ascending;
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return ascending ? a < b : b < a; }
  };

  Result<Object> Find(std::string_view key) const;

  const MemoryStoreOptions options_;
  mutable std::shared_mutex mutex_;
  std::map<std::string, Object, Order> objects_;
};

}  // namespace batchweave
