// Counts what a store is asked: for the figures, and for tests that a request was not made.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "batchweave/store/object_store.h"

namespace batchweave {

// Requests whatever their outcome; bytes only of those that went well.
struct StoreUsage {
  uint64_t range_gets = 0;  // One a range, as a cloud store counts.
  uint64_t reads = 0;       // Of whole objects.
  uint64_t creates = 0;
  uint64_t overwrites = 0;
  uint64_t stats = 0;
  uint64_t lists = 0;         // Pages.
  uint64_t deletes = 0;       // Calls.
  uint64_t deleted_keys = 0;  // Keys named in them.
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;

  // All of the requests.
  uint64_t requests() const { return range_gets + reads + creates + overwrites + stats + lists + deletes; }

  friend bool operator==(const StoreUsage&, const StoreUsage&) = default;
};

// What happened between two snapshots.
StoreUsage operator-(const StoreUsage& after, const StoreUsage& before);

// Safe for concurrent use; a snapshot taken during calls may show one field without another.
class MeteredStore final : public ObjectStore {
 public:
  // Counts the calls that name a key (or list a prefix) with `key_part` in it, e.g. "/data/"; all where it is empty.
  // `base` must outlive the store.
  explicit MeteredStore(ObjectStore& base, std::string key_part = "");

  StoreUsage usage() const;

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override;
  Result<void> Get(std::span<ReadRequest> requests) override;
  Result<Bytes> Read(std::string_view key) override;
  Result<uint64_t> Stat(std::string_view key) override;
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override;
  Result<void> Delete(std::span<const std::string> keys) override;
  StoreTraits traits() const override;

 private:
  using Counter = std::atomic<uint64_t>;

  // Adds where `key` is counted.
  void Count(Counter& counter, std::string_view key, uint64_t by = 1);

  ObjectStore& base_;
  const std::string key_part_;
  Counter range_gets_{0}, reads_{0}, creates_{0}, overwrites_{0}, stats_{0}, lists_{0}, deletes_{0}, deleted_keys_{0};
  Counter bytes_read_{0}, bytes_written_{0};
};

}  // namespace batchweave
