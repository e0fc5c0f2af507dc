#include "batchweave/store/store_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "batchweave/base/fault_point.h"
#include "batchweave/base/mutation.h"
#include "batchweave/store/backoff.h"

namespace batchweave {
namespace {

// Large enough that a server which ignores ranges, or cuts bodies at a page, is found out.
constexpr size_t kObjectBytes = 6000;

// For one write with all its tries, where each is slow to fail; ten that fail at once take some seconds.
constexpr Duration kWriteTime = std::chrono::seconds(30);

// So often is looked at what a fault on the way may have made, before the store is blamed: one answer in five damaged
// is a broken network, and even there a good store is refused once in a hundred thousand looks.
constexpr int kLooksMax = 8;

// Beside the one object lie a few foreign ones at most: a store whose lists take more pages is one that repeats itself.
constexpr int kListPagesMax = 100;
constexpr size_t kListPage = 1000;

// Bytes that differ at every distance a broken range could be off by, and from those of another `tag`.
Bytes MakeObject(char tag) {
  std::string text(1, tag);
  while (text.size() < kObjectBytes) text += fmt::format("{}:", text.size());
  text.resize(kObjectBytes);
  return ToBytes(text);
}

Error Broken(std::string_view rule, std::string_view how) {
  return {ErrorCode::kUnsuitableStore, fmt::format("the store breaks a rule ({}): {}", rule, how)};
}

class Probe {
 public:
  Probe(Env env, std::string_view prefix)
      : env_(env), store_(env.store), prefix_(prefix), key_(fmt::format("{}object", prefix)) {}

  Result<void> Run() {
    BW_TRY(Create());
    BW_TRY(ReadRanges());
    BW_TRY(StatAndList());
    BW_TRY(Overwrite());
    return Delete();
  }

  // Best effort: nobody ever reads what is left.
  void CleanUp() { static_cast<void>(Remove()); }

 private:
  static constexpr std::string_view kCreateRule = "create-only put";
  static constexpr std::string_view kRangeRule = "ranged reads";
  static constexpr std::string_view kReadRule = "reads and lists show every acknowledged write";
  static constexpr std::string_view kOverwriteRule = "overwrite";
  static constexpr std::string_view kDeleteRule = "delete";

  // Some stores take one write a second of a key and refuse what comes sooner: that says nothing of their rules. Of
  // a put, a server's 429 is an outcome unknown: sent again all the same, since what lies there is read afterwards.
  Result<void> Patiently(const std::function<Result<void>()>& write) {
    Backoff backoff(env_.clock, env_.random, {}, After(env_.clock.Now(), kWriteTime));
    for (;;) {
      Result<void> written = write();
      const bool is_news =
          !FailedWith(written, ErrorCode::kUnavailable) && !FailedWith(written, ErrorCode::kUnknownOutcome);
      if (is_news || !backoff.Wait()) return written;
    }
  }

  Result<void> Put(const Bytes& bytes, PutMode mode) {
    return Patiently([&] { return PutBytes(store_, key_, bytes, mode); });
  }

  Result<void> Remove() {
    return Patiently([&] { return store_.Delete({&key_, 1}); });
  }

  Result<void> Create() {
    const Result<void> first = Put(first_, PutMode::kCreate);
    // "Exists" may be said of the put itself, where it was sent twice, by us or on the way: then it is what was put.
    const bool said_to_exist = FailedWith(first, ErrorCode::kAlreadyExists);
    if (!first.ok() && !said_to_exist) return first.error();
    BW_FAULT_POINT("probe.created");
    constexpr std::string_view kSaidToExist = "a new key was said to exist";
    if (said_to_exist && FailedWith(store_.Stat(key_), ErrorCode::kNotFound)) return Broken(kCreateRule, kSaidToExist);
    BW_TRY(MustRead(first_, kCreateRule, said_to_exist ? kSaidToExist : "it holds other bytes"));
    const Result<void> second = Put(second_, PutMode::kCreate);
    if (second.ok()) return Broken(kCreateRule, "a key was created twice");
    if (!FailedWith(second, ErrorCode::kAlreadyExists)) return second.error();
    return MustRead(first_, kCreateRule, "the put that was refused changed the object");
  }

  // What was never written is damage done on the way, and says nothing of the store unless it is there again and again
  // (fault F3). What was written, but is not what must be read now, or is not found, is the store's doing at first
  // sight.
  Result<void> MustRead(const Bytes& expected, std::string_view rule, std::string_view otherwise) {
    for (int look = 1;; ++look) {
      const Result<Bytes> read = store_.Read(key_);
      if (FailedWith(read, ErrorCode::kNotFound)) return Broken(kReadRule, "an object just written was not found");
      if (!read.ok()) return read.error();
      if (*read == expected) return {};
      const bool was_written = *read == first_ || *read == second_;
      if (was_written || look == kLooksMax || BW_MUTATION(kProbeBelievesAnswers)) return Broken(rule, otherwise);
    }
  }

  Result<void> ReadRanges() {
    for (const Range& range : {Range{0, 10}, Range{4095, 130}, Range{kObjectBytes - 5, 5}, Range{kObjectBytes - 5, 50},
                               Range{kObjectBytes, 10}, Range{2 * kObjectBytes, 10}}) {
      int look = 1;
      while (!BW_TRY(ReadsRange(range))) {
        if (look++ < kLooksMax) continue;
        return Broken(kRangeRule, fmt::format("wrong bytes for a range of {} bytes from {} of {}", range.size,
                                              range.offset, kObjectBytes));
      }
    }
    return {};
  }

  struct Range {
    uint64_t offset;
    size_t size;
  };

  Result<bool> ReadsRange(const Range& range) {
    const ByteView from = ByteView(first_).subspan(std::min<uint64_t>(range.offset, kObjectBytes));
    const ByteView expected = from.first(std::min(range.size, from.size()));
    std::vector<std::byte> buffer(range.size);
    ReadRequest request{.key = key_, .offset = range.offset, .buffer = buffer};
    BW_TRY(store_.Get({&request, 1}));
    const ByteView received = ByteView(buffer).first(std::min(request.received_bytes, buffer.size()));
    return request.received_bytes == expected.size() && std::ranges::equal(received, expected);
  }

  Result<void> StatAndList() {
    const Result<uint64_t> size = store_.Stat(key_);
    if (FailedWith(size, ErrorCode::kNotFound)) return Broken(kReadRule, "an object just written has no size");
    if (BW_TRY(size) != kObjectBytes) return Broken(kReadRule, "the size of an object is wrong");
    if (BW_TRY(Listed()) != std::vector<ListedObject>{{key_, kObjectBytes}}) {
      return Broken(kReadRule, "an object just written is not listed, or not as it is");
    }
    return {};
  }

  // What is listed under the probe's own key: a gateway that dies while it overwrites leaves another beside it.
  Result<std::vector<ListedObject>> Listed() {
    std::vector<ListedObject> listed;
    std::string start_after;
    for (int pages = 0; pages < kListPagesMax; ++pages) {
      ListPage page = BW_TRY(store_.List(prefix_, start_after, kListPage));
      for (ListedObject& object : page.objects) {
        if (object.key == key_) listed.push_back(std::move(object));
      }
      start_after = std::move(page.next_start_after);
      if (start_after.empty()) return listed;
    }
    return Broken(kReadRule, "a list has no end");
  }

  Result<void> Overwrite() {
    const Result<void> put = Put(second_, PutMode::kOverwrite);
    if (FailedWith(put, ErrorCode::kAlreadyExists)) return Broken(kOverwriteRule, "refused");
    BW_TRY(put);
    return MustRead(second_, kOverwriteRule, "the bytes before it were read after it");
  }

  // A put that something on the way sent twice may land after the first delete: so only what outlives several counts.
  Result<void> Delete() {
    for (int look = 1;; ++look) {
      BW_TRY(Remove());
      const Result<Bytes> read = store_.Read(key_);
      if (!read.ok() && !FailedWith(read, ErrorCode::kNotFound)) return read.error();
      const bool is_listed = !BW_TRY(Listed()).empty();
      if (!read.ok() && !is_listed) break;
      if (look < kLooksMax) continue;
      return Broken(kDeleteRule, is_listed ? "a deleted object is listed" : "a deleted object was read");
    }
    // Deleting what does not exist is no error.
    return Remove();
  }

  const Env env_;
  ObjectStore& store_;
  const std::string prefix_;
  const std::string key_;
  const Bytes first_ = MakeObject('a');
  const Bytes second_ = MakeObject('b');
};

}  // namespace

Result<void> ProbeStore(Env env, std::string_view prefix) {
  Probe probe(env, prefix);
  Result<void> result = probe.Run();
  if (result.ok()) return {};
  probe.CleanUp();
  // Of an object that means nothing to anybody, "may have happened" is as good as "did not".
  if (FailedWith(result, ErrorCode::kUnknownOutcome)) {
    return Error{ErrorCode::kUnavailable, "while trying out the store: " + result.error().message};
  }
  return WithContext(std::move(result).error(), "while trying out the store");
}

}  // namespace batchweave
