// The one thing that producers, trainers and reclaimer share: a flat map of keys to immutable-looking byte strings.
//
// A store must keep four rules (docs/protocol.md): an atomic create-only put, of which one of many racing creators
// wins; an overwrite that is never seen as absence; linearizable reads of a key and a LIST that shows every
// acknowledged write; ranged reads, LIST by prefix, DELETE. Nothing else is assumed: no rename, no clock, no
// conditional overwrite.
//
// Calls block until done or until the store's own deadline. Safe for concurrent use. No default methods, so that a
// wrapper cannot forget one; conveniences are free functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"

namespace batchweave {

// A key is at most 1024 bytes: what S3 takes, which counts also what stands before it in the store's URL. Its
// components are at most 200 bytes each, separated by single '/', none empty, none with a NUL or beginning with '.'
// (hidden files, "." and ".." are a directory's own business). No key may be a '/'-prefix of another (a directory could
// not hold both).
inline constexpr size_t kKeyBytesMax = 1024;
inline constexpr size_t kKeyComponentBytesMax = 200;

// The largest piece that an observer of a read gets: small enough to be still in a core's cache, large enough that the
// calls do not count.
inline constexpr size_t kReadBlockBytes = size_t{512} << 10;

enum class PutMode {
  kCreate,     // Only where the key does not exist.
  kOverwrite,  // Whether or not it exists; never observable as absence.
};

// Is told of the bytes of a read while they are still in the processor's cache.
class ReadObserver {
 public:
  virtual ~ReadObserver() = default;
  // `piece` follows, in the object, what came before; it lies in the request's buffer. On the thread that called Get
  // or on one of the store's, but never two calls at once. Nothing is told of a range that lies beyond the end.
  virtual void OnBytes(ByteView piece) = 0;
  // The read begins again from its first byte (a retry).
  virtual void OnRestart() = 0;
};

// One range of one object.
struct ReadRequest {
  std::string_view key;
  uint64_t offset = 0;
  MutableByteView buffer;            // As long as the range.
  ReadObserver* observer = nullptr;  // May be null; must outlive the call.
  size_t received_bytes = 0;         // Out: short only where the object ends before the range does; 0 beyond its end.
  // Out, of a call that failed for another's sake: this one was read, and need not be asked for again. A store that cannot
  // tell leaves it as it is.
  bool done = false;

  // What a cache may want to know (node_cache_store.h); others do without.
  uint64_t step = 0;        // By these, data goes by in order; 0 where it is of none.
  bool asks_again = false;  // The caller follows: what was so a moment ago will do, also that nothing is there.
};

struct ListedObject {
  std::string key;
  uint64_t size_bytes = 0;
  friend bool operator==(const ListedObject&, const ListedObject&) = default;
};

struct ListPage {
  std::vector<ListedObject> objects;  // Ordered by key, bytewise, where the store lists in order.
  std::string next_start_after;       // Where the next page begins; empty at the end.
};

struct StoreTraits {
  // LIST returns keys in bytewise order, and `start_after` skips up to any given string. Where false, `start_after`
  // must be empty or a `next_start_after` of this very store.
  bool ordered_list = false;
  uint64_t put_bytes_max = 0;  // The largest object that one Put takes.
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  // Writes the concatenation of `pieces` under `key`: all of it or nothing.
  // Errors: kAlreadyExists (kCreate only; it may be your own earlier try that won: compare before concluding),
  // kUnavailable (nothing was written: retry), kUnknownOutcome (may have been written, now or still later: read back),
  // kDenied (nothing was written, and a retry will not help), kInvalidArgument (the key, or too large).
  virtual Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) = 0;

  // Reads every request into its own buffer, overlapping them as it can. Fails as a whole with the error of one of
  // them: ReadRequest::done tells of the others. Errors: kNotFound, kUnavailable, kDenied, kInvalidArgument (a key).
  virtual Result<void> Get(std::span<ReadRequest> requests) = 0;

  // The whole of a small object. Errors: as Get.
  virtual Result<Bytes> Read(std::string_view key) = 0;

  // The size in bytes. Errors: as Get.
  virtual Result<uint64_t> Stat(std::string_view key) = 0;

  // One page of at most `limit` (>= 1; a store may give fewer) objects whose keys begin with `prefix`, after
  // `start_after`. A prefix may end anywhere, also in mid-component. What is created or deleted meanwhile may be listed
  // or not; all else is, once.
  // Errors: kUnavailable, kDenied.
  virtual Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) = 0;

  // Removes `keys`; a key that does not exist is no error. Errors: kUnavailable and kDenied (some may be gone),
  // kInvalidArgument (a key).
  virtual Result<void> Delete(std::span<const std::string> keys) = 0;

  virtual StoreTraits traits() const = 0;
};

// Put of one piece.
Result<void> PutBytes(ObjectStore& store, std::string_view key, ByteView bytes, PutMode mode);

// True where `key` may be used as a key: see kKeyBytesMax.
bool IsValidKey(std::string_view key);

// Errors: kInvalidArgument where it may not, with the rule.
Result<void> CheckKey(std::string_view key);

// Every object under `prefix`, page after page. `visit` may stop the walk with an error, which is returned.
template <typename Visit>
Result<void> ForEachObject(ObjectStore& store, std::string_view prefix, Visit visit) {
  // A cloud store gives 1000 at most, whatever is asked; a directory is read whole for each page.
  constexpr size_t kPageObjects = 100'000;
  std::string start_after;
  do {
    ListPage page = BW_TRY(store.List(prefix, start_after, kPageObjects));
    for (const ListedObject& object : page.objects) BW_TRY(visit(object));
    start_after = std::move(page.next_start_after);
  } while (!start_after.empty());
  return {};
}

}  // namespace batchweave
