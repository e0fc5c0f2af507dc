#include "batchweave/log/manifest_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "batchweave/base/check.h"

namespace batchweave {
namespace {

// Between finding the newest version and reading it, at least 64 newer ones must land before it may be a tombstone. It
// happens to a reader that was paused; that it happens this often in a row is a store that lies.
constexpr int kFindAttemptsMax = 8;

// Objects a request where foreign ones lie before the newest version.
constexpr size_t kListedMax = 1000;

// A head longer than the first guess is read again; it may meanwhile have become a tombstone, once.
constexpr int kHeadReadsMax = 3;

Result<LoggedManifest> DecodeLogged(ByteView object) {
  return LoggedManifest{.manifest = BW_TRY(DecodeManifest(object)), .hash = BW_TRY(ManifestHash(object))};
}

}  // namespace

ManifestLog::ManifestLog(Env env, StreamKeys keys, Hash128 stream_json_hash)
    : env_(env), keys_(std::move(keys)), stream_json_hash_(stream_json_hash) {}

// The newest version as `decode` makes it of its object; none where nothing was committed.
template <typename Decoded, typename Decode>
Result<Decoded> ManifestLog::Newest(Decode decode) {
  for (int attempt = 0; attempt < kFindAttemptsMax; ++attempt) {
    // Before it is looked for: another thread may see the first version while this one is told that there is none.
    const bool had_versions = newest_hint_.load(std::memory_order_relaxed) != 0;
    const Version newest = BW_TRY(FindNewest());
    if (newest == Version{0}) {
      if (had_versions) return Deleted();  // Versions stay as long as their stream: those that were seen went with it.
      Decoded none;
      none.manifest = EmptyManifest(keys_.stream_id, stream_json_hash_);
      return none;
    }
    Result<Decoded> read = Read<Decoded>(newest, decode);
    if (FailedWith(read, ErrorCode::kTrimmed)) continue;
    if (FailedWith(read, ErrorCode::kNotFound) || (read.ok() && read->manifest.deleted)) return Deleted();
    return read;
  }
  return Error{
      ErrorCode::kUnavailable,
      fmt::format("the newest manifest was retired {} times while being read: name={}", kFindAttemptsMax, keys_.name)};
}

template <typename Decoded, typename Decode>
Result<Decoded> ManifestLog::Read(Version version, Decode decode) {
  const auto once = [&]() -> Result<Decoded> {
    const Bytes object = BW_TRY(env_.store.Read(keys_.Manifest(version)));
    Learn(version);
    Decoded read = BW_TRY(decode(object));
    BW_TRY(CheckIdentity(read.manifest, version));
    return read;
  };
  Result<Decoded> read = once();
  // A store may make one read of several requests, and a tombstone may have come between them. It comes once: what is
  // read now is whole.
  if (FailedWith(read, ErrorCode::kCorrupt)) return once();
  return read;
}

Result<LoggedManifest> ManifestLog::ReadNewest() {
  LoggedManifest newest = BW_TRY(Newest<LoggedManifest>(DecodeLogged));
  if (newest.manifest.version == Version{0}) newest.hash = stream_json_hash_;
  return newest;
}

Result<ManifestGlimpse> ManifestLog::GlimpseNewest(std::span<const std::string> producers) {
  return Newest<ManifestGlimpse>([&](ByteView object) { return GlimpseManifest(object, producers); });
}

Result<ManifestSteps> ManifestLog::ReadNewestSteps(Step first, size_t count) {
  ManifestSteps newest =
      BW_TRY(Newest<ManifestSteps>([&](ByteView object) { return DecodeManifestSteps(object, first, count); }));
  if (newest.manifest.version == Version{0}) newest.hash = stream_json_hash_;
  return newest;
}

Result<ManifestSteps> ManifestLog::ReadSteps(Version version, Step first, size_t count) {
  return Read<ManifestSteps>(version, [&](ByteView object) { return DecodeManifestSteps(object, first, count); });
}

Error ManifestLog::Deleted() const {
  return {ErrorCode::kNotFound, fmt::format("the stream was deleted: name={}", keys_.name)};
}

Result<LoggedManifest> ManifestLog::Refresh(LoggedManifest known) {
  if (BW_TRY(Exists(Next(known.manifest.version)))) return ReadNewest();
  return known;
}

Result<LoggedManifest> ManifestLog::Read(Version version) { return Read<LoggedManifest>(version, DecodeLogged); }

Result<ManifestHead> ManifestLog::ReadHead(Version version) { return ReadHead(version, /*asks_again=*/false); }
Result<ManifestHead> ManifestLog::PollHead(Version version) { return ReadHead(version, /*asks_again=*/true); }

Result<ManifestHead> ManifestLog::ReadHead(Version version, bool asks_again) {
  const std::string key = keys_.Manifest(version);
  Bytes buffer(kHeadReadBytes);
  for (int attempt = 0; attempt < kHeadReadsMax; ++attempt) {
    ReadRequest request{.key = key, .offset = 0, .buffer = buffer, .asks_again = asks_again};
    BW_TRY(env_.store.Get({&request, 1}));
    Learn(version);
    const ByteView received = ByteView(buffer).first(request.received_bytes);
    const uint64_t needed = BW_TRY(HeadBytesNeeded(received));
    if (needed > received.size() && received.size() == buffer.size()) {
      buffer.resize(needed);
      continue;
    }
    ManifestHead head = BW_TRY(DecodeManifestHead(received));
    BW_TRY(CheckIdentity(head.manifest, version));
    return head;
  }
  return Error{ErrorCode::kUnavailable, fmt::format("the manifest changed while its head was read: key={}", key)};
}

Result<Version> ManifestLog::FindNewest() {
  const Version newest = BW_TRY(env_.store.traits().ordered_list ? FindNewestByList() : FindNewestByProbing());
  Learn(newest);
  return newest;
}

// Keys count down from UINT64_MAX, so the first one is the newest version. Foreign keys may lie before it: versitygw
// links what overwrites an object under a name of its own first, and a gateway that died then leaves it there.
Result<Version> ManifestLog::FindNewestByList() {
  size_t limit = 1;
  std::string start_after;
  do {
    ListPage page = BW_TRY(env_.store.List(keys_.ManifestPrefix(), start_after, limit));
    for (const ListedObject& object : page.objects) {
      const std::optional<ParsedKey> parsed = ParseKey(keys_, object.key);
      if (parsed && parsed->kind == ParsedKey::Kind::kManifest) return parsed->version;
    }
    start_after = std::move(page.next_start_after);
    limit = kListedMax;
  } while (!start_after.empty());
  return Version{0};
}

// Slots 1..newest are all occupied for ever (I1), so the newest is found by probing.
Result<Version> ManifestLog::FindNewestByProbing() {
  const uint64_t known = newest_hint_.load(std::memory_order_relaxed);
  auto [occupied, absent] = BW_TRY(known == 0 ? FindOrder() : Gallop(known));
  while (absent - occupied > 1) {
    const uint64_t middle = occupied + (absent - occupied) / 2;
    (BW_TRY(Exists(Version{middle})) ? occupied : absent) = middle;
  }
  return Version{occupied};
}

// Who knows nothing bisects the number of digits, and those after it: with 10^5 versions 22 probes, with 1000 of them 14.
Result<ManifestLog::Bounds> ManifestLog::FindOrder() {
  constexpr int kFirst = 12;  // About the middle of what streams have, by digits: an hour's to a year's.
  constexpr int kLast = 63;
  int occupied = -1;  // 2^-1 stands for no version.
  int absent = kFirst;
  while (BW_TRY(Exists(Version{uint64_t{1} << absent}))) {
    if (absent == kLast) return EverySlotIsTaken();
    occupied = absent;
    absent = std::min(2 * absent, kLast);
  }
  while (absent - occupied > 1) {
    const int middle = (occupied + absent) / 2;
    (BW_TRY(Exists(Version{uint64_t{1} << middle})) ? occupied : absent) = middle;
  }
  return Bounds{.occupied = occupied < 0 ? 0 : uint64_t{1} << occupied, .absent = uint64_t{1} << absent};
}

// Who follows finds the next version, or the one after it, by few probes; strides grow by more and more.
Result<ManifestLog::Bounds> ManifestLog::Gallop(uint64_t occupied) {
  constexpr uint64_t kGrowthMax = 8;
  uint64_t stride = 1;
  uint64_t growth = 2;
  while (BW_TRY(Exists(Version{occupied + stride}))) {
    occupied += stride;
    if (stride > std::numeric_limits<uint64_t>::max() / (2 * kGrowthMax)) return EverySlotIsTaken();
    stride *= growth;
    growth = std::min(2 * growth, kGrowthMax);
  }
  return Bounds{.occupied = occupied, .absent = occupied + stride};
}

Error ManifestLog::EverySlotIsTaken() const {
  return {
      ErrorCode::kCorrupt,
      fmt::format("the store says of every version that it is there: is something between it and here that answers for "
                  "it? prefix={}",
                  keys_.ManifestPrefix())};
}

Result<bool> ManifestLog::Exists(Version version) {
  const Result<uint64_t> size = env_.store.Stat(keys_.Manifest(version));
  if (size.ok()) return true;
  if (size.error().code == ErrorCode::kNotFound) return false;
  return size.error();
}

Result<void> ManifestLog::CheckIdentity(const Manifest& manifest, Version version) const {
  if (manifest.stream_id == keys_.stream_id && manifest.version == version) return {};
  return Error{ErrorCode::kCorrupt,
               fmt::format("a manifest of another stream or version: key={} stream={} version={}",
                           keys_.Manifest(version), ToString(manifest.stream_id), manifest.version.value)};
}

void ManifestLog::Learn(Version version) {
  uint64_t hint = newest_hint_.load(std::memory_order_relaxed);
  while (hint < version.value && !newest_hint_.compare_exchange_weak(hint, version.value, std::memory_order_relaxed)) {
  }
}

}  // namespace batchweave
