// One directory with copies of what the processes of a host have read, within a budget of bytes.
//
// Everything in it may vanish, be cut short, be altered, or be of an older life at any time: a copy is known by its checksum
// and by the name of what it is of, and what is not whole is removed. Nothing here is an error to anybody: what cannot be
// found or kept is read from the store. Safe for concurrent use, also between processes, whoever is killed when: a copy
// gets its name once it is whole, and the system lets go of the locks of the dead.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "batchweave/base/clock.h"
#include "batchweave/base/hash.h"
#include "batchweave/base/result.h"
#include "batchweave/store/local_file.h"
#include "batchweave/store/node_cache_plan.h"
#include "batchweave/store/object_store.h"
#include "batchweave/store/temporary_file.h"

namespace batchweave {

struct NodeCacheOptions {
  std::string dir{};                        // Made where it is not there; its parent must be. Empty: no cache.
  uint64_t bytes_max = uint64_t{16} << 30;  // That the directory takes at most.
};

// Less would hold nothing.
inline constexpr uint64_t kNodeCacheBytesMin = uint64_t{4} << 20;

class NodeCache {
 public:
  // `clock` must outlive it. Errors: kInvalidArgument (too small; others may write there), kNotFound (no such folder), kDenied,
  // kUnavailable.
  static Result<std::unique_ptr<NodeCache>> Open(const NodeCacheOptions& options, Clock& clock);

  // What a copy is of, and where it lies.
  struct Place {
    std::string folder{};
    uint64_t step = 0;
    Hash128 id{};
  };

  // A copy that was opened. It stays readable though it be removed.
  struct Copy {
    FileDescriptor file{};
    uint64_t size_bytes = 0;
    uint64_t hash = 0;
  };

  // None where there is no such copy; one whose head is damaged is removed.
  std::optional<Copy> Find(const Place& place);

  // Fills `buffer`, as long as the copy, and tells the observer, which may be null. False where the copy is not what was
  // kept: then it is removed, and the observer was told of bytes that do not count.
  bool Read(const Place& place, const Copy& copy, MutableByteView buffer, ReadObserver* observer);

  // Keeps a copy, and makes room for it. False where it cannot be: no room, a full disk, no directory any more.
  bool Keep(const Place& place, ByteView bytes);

  // Who reads something from the store for all others, until it is destroyed.
  class Lock {
   public:
    explicit Lock(FileDescriptor file, uint64_t at) : file_(std::move(file)), at_(at) {}
    Lock(Lock&& other) noexcept = default;
    Lock& operator=(Lock&&) noexcept = delete;
    ~Lock();

   private:
    FileDescriptor file_;
    uint64_t at_;
  };
  enum class LockState { kOurs, kTheirs, kNone };  // kNone: there are no locks to be had.
  struct LockTry {
    LockState state;
    std::optional<Lock> lock{};  // kOurs.
  };
  LockTry TryLock(const Hash128& id);

  // The word of whoever last asked the store in vain for something of a folder: what for, and a number drawn for that asking.
  struct Absence {
    Hash128 id{};
    uint64_t asking = 0;
  };
  std::optional<Absence> LastAbsence(const std::string& folder);
  void TellAbsence(const std::string& folder, const Absence& absence);

  // What it takes on the disk now, by looking.
  uint64_t CountBytes();

 private:
  NodeCache(FileDescriptor root, uint64_t bytes_max, Clock& clock);

  LockTry LockAt(uint64_t at);
  std::optional<Lock> LockBudget();
  TemporaryFile Reserve(const Place& place, uint64_t size_bytes, uint64_t charge);
  int MakeSized(const Place& place, uint64_t size_bytes, std::optional<TemporaryFile>& file);
  bool Move(TemporaryFile& file, const Place& place);
  std::vector<CachedCopy> Scan(uint64_t& other_bytes);
  uint64_t Shrink(uint64_t bytes_max, const Place& place);
  std::optional<uint64_t> ReadUsage();
  void WriteUsage(uint64_t bytes);
  void Remove(const Place& place);

  const FileDescriptor root_;
  const uint64_t bytes_max_;
  Clock& clock_;
};

}  // namespace batchweave
