// The processes of one host read each object from the store once: what one has read, the others take from a directory that
// they share (node_cache.h). docs/decisions/0021-node-cache.md says why this way.
//
// N1. What comes from the cache is byte for byte what a store once gave for this key and range, or it is not taken.
// N2. Without being asked to (asks_again), it gives nothing that may have changed: only objects that never do come from it,
//     and "not there" only from the store.
// N3. No handle gets the same copy twice: who asks again may have found it bad, and gets what the store has.
// N4. Whatever becomes of the directory, or of who holds a lock in it, a read ends as it would without, at most
//     Waits::other_max later.
// N5. The directory is never above the budget of whoever puts something into it.
// N6. "Not there" that another process was told is no older than this handle's own last such answer, and than kToldMax.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "batchweave/base/random.h"
#include "batchweave/store/node_cache.h"
#include "batchweave/store/object_store.h"

namespace batchweave {

struct NodeCacheStats {
  uint64_t found = 0;        // Reads that were answered from the directory.
  uint64_t told_absent = 0;  // Answered "not there" by the word of another process.
  uint64_t asked = 0;        // Reads that could have been, and went to the store.
  uint64_t damaged = 0;      // Copies that were not what was kept.
  uint64_t not_kept = 0;     // Read, but no room for it.
};

// Safe for concurrent use, also by a forked child. Writes, lists, stats and deletes go straight to the store.
class NodeCacheStore final : public ObjectStore {
 public:
  struct Waits {
    // For another process that reads the same, before it is read once more: longer than a slice takes to come.
    Duration other_max = std::chrono::seconds(2);
  };
  // True of a key whose object, once there, never changes.
  using NeverChanges = bool (*)(std::string_view key);

  // `identity` tells the store from others on this host, which may hold copies of the same streams. `clock` and `random` must
  // outlive it. Keys that are alike up to their second '/' are of one stream.
  NodeCacheStore(std::unique_ptr<ObjectStore> base, std::unique_ptr<NodeCache> cache, std::string identity,
                 NeverChanges never_changes, Clock& clock, Random& random);
  NodeCacheStore(std::unique_ptr<ObjectStore> base, std::unique_ptr<NodeCache> cache, std::string identity,
                 NeverChanges never_changes, Clock& clock, Random& random, Waits waits);

  NodeCacheStats stats() const;

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override;
  Result<void> Get(std::span<ReadRequest> requests) override;
  Result<Bytes> Read(std::string_view key) override;
  Result<uint64_t> Stat(std::string_view key) override;
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override;
  Result<void> Delete(std::span<const std::string> keys) override;
  StoreTraits traits() const override;

 private:
  using Counter = std::atomic<uint64_t>;

  // A read that may be answered from the directory.
  struct Wanted {
    ReadRequest* request = nullptr;  // Null: the whole object.
    Bytes whole{};
    NodeCache::Place place{};
    bool may_be_shared = false;
    std::optional<uint64_t> told_before{};  // The last asking in vain that this handle knows of.
    std::optional<NodeCache::Lock> lock{};  // Where it is this process that reads for all.
  };
  enum class Answer { kFound, kAbsent, kAskStore, kOtherAsks };

  Wanted Want(std::string_view key, ReadRequest* request);
  Answer Look(Wanted& wanted);
  bool Take(Wanted& wanted);
  bool WasTold(const Wanted& wanted);
  // After kOtherAsks: what became of it; kAskStore where that took too long.
  Answer Await(Wanted& wanted);
  Result<void> Fetch(std::span<Wanted* const> wanted);
  void Got(const Wanted& wanted, ByteView bytes);
  void NoteAbsence(const Wanted& wanted, uint64_t asking);

  bool HadBefore(const Hash128& id);
  void Remember(const Hash128& id);

  const std::unique_ptr<ObjectStore> base_;
  const std::unique_ptr<NodeCache> cache_;
  const std::string identity_;
  const NeverChanges never_changes_;
  Clock& clock_;
  Random& random_;
  const Waits waits_;
  Counter found_{0}, told_absent_{0}, asked_{0}, damaged_{0}, not_kept_{0};

  std::mutex mutex_;
  std::set<Hash128> had_;          // What this handle got, the last of it.
  std::deque<Hash128> had_order_;  // The oldest first.
  struct Told {
    uint64_t asking = 0;
    TimePoint at{};
  };
  std::map<std::string, Told> told_;  // By folder: the last "not there" that this handle answered.
};

}  // namespace batchweave
