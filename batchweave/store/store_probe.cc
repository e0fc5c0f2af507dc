#include "batchweave/store/store_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace batchweave {
namespace {

// Large enough that a server which ignores ranges, or cuts bodies at a page, is found out.
constexpr size_t kObjectBytes = 6000;

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
  Probe(ObjectStore& store, std::string_view prefix)
      : store_(store), prefix_(prefix), key_(fmt::format("{}object", prefix)) {}

  Result<void> Run() {
    BW_TRY(Create());
    BW_TRY(ReadRanges());
    BW_TRY(StatAndList());
    BW_TRY(Overwrite());
    return Delete();
  }

  // Best effort: what is left is for `doctor --clean`.
  void CleanUp() { static_cast<void>(store_.Delete({&key_, 1})); }

 private:
  static constexpr std::string_view kCreateRule = "create-only put";
  static constexpr std::string_view kRangeRule = "ranged reads";
  static constexpr std::string_view kReadRule = "reads and lists show every acknowledged write";
  static constexpr std::string_view kOverwriteRule = "overwrite";
  static constexpr std::string_view kDeleteRule = "delete";

  Result<void> Create() {
    const Result<void> first = PutBytes(store_, key_, first_, PutMode::kCreate);
    if (FailedWith(first, ErrorCode::kAlreadyExists)) return Broken(kCreateRule, "a new key was said to exist");
    BW_TRY(first);
    const Result<void> second = PutBytes(store_, key_, second_, PutMode::kCreate);
    if (second.ok()) return Broken(kCreateRule, "a key was created twice");
    if (!FailedWith(second, ErrorCode::kAlreadyExists)) return second.error();
    return MustRead(first_, kCreateRule, "the put that was refused changed the object");
  }

  Result<void> MustRead(const Bytes& expected, std::string_view rule, std::string_view otherwise) {
    const Result<Bytes> read = store_.Read(key_);
    if (FailedWith(read, ErrorCode::kNotFound)) return Broken(kReadRule, "an object just written was not found");
    if (!read.ok()) return read.error();
    if (*read != expected) return Broken(rule, otherwise);
    return {};
  }

  Result<void> ReadRanges() {
    struct Range {
      uint64_t offset;
      size_t size;
    };
    for (const Range& range : {Range{0, 10}, Range{4095, 130}, Range{kObjectBytes - 5, 5}, Range{kObjectBytes - 5, 50},
                               Range{kObjectBytes, 10}, Range{2 * kObjectBytes, 10}}) {
      const ByteView from = ByteView(first_).subspan(std::min<uint64_t>(range.offset, kObjectBytes));
      const ByteView expected = from.first(std::min(range.size, from.size()));
      std::vector<std::byte> buffer(range.size);
      ReadRequest request{.key = key_, .offset = range.offset, .buffer = buffer};
      BW_TRY(store_.Get({&request, 1}));
      const ByteView received = ByteView(buffer).first(std::min(request.received_bytes, buffer.size()));
      if (request.received_bytes != expected.size() || !std::ranges::equal(received, expected)) {
        return Broken(kRangeRule, fmt::format("wrong bytes for a range of {} bytes from {} of {}", range.size,
                                              range.offset, kObjectBytes));
      }
    }
    return {};
  }

  Result<void> StatAndList() {
    const Result<uint64_t> size = store_.Stat(key_);
    if (FailedWith(size, ErrorCode::kNotFound)) return Broken(kReadRule, "an object just written has no size");
    if (BW_TRY(size) != kObjectBytes) return Broken(kReadRule, "the size of an object is wrong");
    const ListPage page = BW_TRY(store_.List(prefix_, "", 10));
    if (page.objects != std::vector<ListedObject>{{key_, kObjectBytes}} || !page.next_start_after.empty()) {
      return Broken(kReadRule, "an object just written is not listed, or not as it is");
    }
    return {};
  }

  Result<void> Overwrite() {
    const Result<void> put = PutBytes(store_, key_, second_, PutMode::kOverwrite);
    if (FailedWith(put, ErrorCode::kAlreadyExists)) return Broken(kOverwriteRule, "refused");
    BW_TRY(put);
    return MustRead(second_, kOverwriteRule, "the bytes before it were read after it");
  }

  Result<void> Delete() {
    BW_TRY(store_.Delete({&key_, 1}));
    const Result<Bytes> read = store_.Read(key_);
    if (read.ok()) return Broken(kDeleteRule, "a deleted object was read");
    if (!FailedWith(read, ErrorCode::kNotFound)) return read.error();
    if (!BW_TRY(store_.List(prefix_, "", 10)).objects.empty()) return Broken(kDeleteRule, "a deleted object is listed");
    // Deleting what does not exist is no error.
    return store_.Delete({&key_, 1});
  }

  ObjectStore& store_;
  const std::string prefix_;
  const std::string key_;
  const Bytes first_ = MakeObject('a');
  const Bytes second_ = MakeObject('b');
};

}  // namespace

Result<void> ProbeStore(Env env, std::string_view prefix) {
  Probe probe(env.store, prefix);
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
