#include "batchweave/store/full_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <utility>

#include "batchweave/store/overwrite_probe.h"
#include "batchweave/store/store_probe.h"

namespace batchweave {
namespace {

constexpr int kCreators = 32;
constexpr int kRaces = 8;
// So many keys, in pages of so few, that every page begins in the midst of them.
constexpr int kListedKeys = 40;
constexpr size_t kListPage = 7;
constexpr size_t kRangedBytes = 300'000;
constexpr size_t kObjectsPerSize = 200;

Error Broken(std::string_view rule, std::string_view how) {
  return {ErrorCode::kUnsuitableStore, fmt::format("the store breaks a rule ({}): {}", rule, how)};
}

// Bytes that differ at every distance, and that no server compresses away.
Bytes Noise(Random& random, size_t size_bytes) {
  uint64_t state = random.Next() | 1;
  Bytes bytes(size_bytes);
  for (std::byte& byte : bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::byte>(state >> 56);
  }
  return bytes;
}

class FullProbe {
 public:
  FullProbe(Env env, ObjectStore& second, std::string_view prefix) : env_(env), second_(second), prefix_(prefix) {}

  // One key, 32 creators, two handles: at most one is told that it won, and all see the same object then.
  Result<void> RaceCreators() {
    for (int race = 0; race < kRaces; ++race) BW_TRY(Race(fmt::format("{}race/{}", prefix_, race)));
    return {};
  }

  Result<void> List() {
    const std::string folder = fmt::format("{}list/", prefix_);
    std::vector<std::string> keys;
    for (int i = 0; i < kListedKeys; ++i) keys.push_back(fmt::format("{}{:02}/object", folder, i));
    for (const std::string& key : keys) BW_TRY(PutBytes(env_.store, key, AsBytes(key), PutMode::kCreate));
    std::vector<std::string> listed = BW_TRY(ListPages(folder));
    if (env_.store.traits().ordered_list && !std::ranges::is_sorted(listed)) {
      return Broken("list", "keys came out of order from a store that says that it lists in order");
    }
    std::ranges::sort(listed);
    if (listed != keys) return Broken("list", "page after page did not give every key once");
    const std::string part = fmt::format("{}1", folder);
    const auto has_part = [&](const std::string& key) { return key.starts_with(part); };
    if (BW_TRY(ListPages(part)).size() != static_cast<size_t>(std::ranges::count_if(keys, has_part))) {
      return Broken("list", "a prefix that ends within a name did not give the keys that begin with it");
    }
    return {};
  }

  // Several ranges in one call, through the other handle.
  Result<void> ReadRanges() {
    const std::string key = fmt::format("{}ranges", prefix_);
    const Bytes object = Noise(env_.random, kRangedBytes);
    BW_TRY(PutBytes(env_.store, key, object, PutMode::kCreate));
    const std::vector<std::pair<uint64_t, size_t>> ranges = {
        {0, 1}, {65535, 2}, {131'000, 100'000}, {kRangedBytes - 1, 1}};
    std::vector<Bytes> buffers;
    std::vector<ReadRequest> requests;
    buffers.reserve(ranges.size());
    for (const auto& [offset, size] : ranges) {
      buffers.emplace_back(size);
      requests.push_back({.key = key, .offset = offset, .buffer = buffers.back()});
    }
    BW_TRY(second_.Get(requests));
    for (size_t i = 0; i < ranges.size(); ++i) {
      const bool whole = requests[i].received_bytes == ranges[i].second;
      if (whole && std::ranges::equal(buffers[i], ByteView(object).subspan(ranges[i].first, ranges[i].second)))
        continue;
      return Broken("ranged reads", fmt::format("wrong bytes for a range of {} bytes from {} of {}", ranges[i].second,
                                                ranges[i].first, kRangedBytes));
    }
    return {};
  }

  // A client that checks what it gets says "try again" of a server that always cuts a range: where the whole object can be
  // read, and a range of it cannot, the rule is broken. Otherwise `unavailable` itself.
  Error CauseOf(const Error& unavailable) {
    const std::string key = fmt::format("{}cause", prefix_);
    const Bytes object = Noise(env_.random, kRangedBytes);
    const bool is_there = PutBytes(env_.store, key, object, PutMode::kCreate).ok();
    Bytes buffer(kRangedBytes / 2);
    ReadRequest request{.key = key, .offset = 1, .buffer = buffer};
    const Result<void> ranged = is_there ? env_.store.Get({&request, 1}) : Result<void>();
    if (!FailedWith(ranged, ErrorCode::kUnavailable)) return unavailable;
    const Result<Bytes> whole = env_.store.Read(key);
    if (!whole.ok() || *whole != object) return unavailable;
    return Broken("ranged reads",
                  fmt::format("a range of an object cannot be read, and the whole can: {}", ranged.error().message));
  }

  Result<SizeFigures> Measure(uint64_t size_bytes, Duration time) {
    const Bytes object = Noise(env_.random, size_bytes);
    Bytes buffer(size_bytes);
    std::vector<Duration> puts;
    std::vector<Duration> gets;
    const TimePoint end = After(env_.clock.Now(), time);
    while (puts.empty() || (env_.clock.Now() < end && puts.size() < kObjectsPerSize)) {
      const std::string key = fmt::format("{}speed/{}-{}", prefix_, size_bytes, puts.size());
      const TimePoint begin = env_.clock.Now();
      BW_TRY(PutBytes(env_.store, key, object, PutMode::kCreate));
      const TimePoint written = env_.clock.Now();
      ReadRequest request{.key = key, .buffer = buffer};
      BW_TRY(env_.store.Get({&request, 1}));
      gets.push_back(env_.clock.Now() - written);
      puts.push_back(written - begin);
      BW_TRY(env_.store.Delete({&key, 1}));
    }
    return Summed(size_bytes, std::move(puts), std::move(gets));
  }

 private:
  Result<void> Race(const std::string& key) {
    std::atomic<int> winners{0};
    std::atomic<int> losers_without_object{0};
    std::atomic<bool> denied{false};
    std::latch ready(kCreators);
    {
      std::vector<std::unique_ptr<Thread>> creators;
      for (int i = 0; i < kCreators; ++i) {
        creators.push_back(env_.threads.Start(fmt::format("bw-doctor-{}", i), [&, i] {
          ObjectStore& store = i % 2 == 0 ? env_.store : second_;
          const std::string mine = fmt::format("creator {}", i);
          ready.arrive_and_wait();
          const Result<void> put = PutBytes(store, key, AsBytes(mine), PutMode::kCreate);
          if (put.ok()) winners += 1;
          if (FailedWith(put, ErrorCode::kDenied)) denied = true;
          if (!FailedWith(put, ErrorCode::kAlreadyExists)) return;
          if (FailedWith(store.Read(key), ErrorCode::kNotFound)) losers_without_object += 1;
        }));
      }
    }
    if (winners > 1) {
      return Broken("create-only put",
                    fmt::format("{} of {} racing creators of one key won", winners.load(), kCreators));
    }
    if (denied) return Error{ErrorCode::kDenied, fmt::format("an object may not be created there: key={}", key)};
    if (losers_without_object > 0) return Broken("reads", "who was told that a key exists did not find it");
    const Bytes first = BW_TRY(env_.store.Read(key));
    if (BW_TRY(second_.Read(key)) != first) return Broken("reads", "two handles saw different objects under one key");
    return {};
  }

  Result<std::vector<std::string>> ListPages(const std::string& prefix) {
    std::vector<std::string> keys;
    std::string start_after;
    // A store that never comes to an end is one that repeats itself.
    for (int pages = 0; pages <= kListedKeys; ++pages) {
      ListPage page = BW_TRY(second_.List(prefix, start_after, kListPage));
      for (ListedObject& object : page.objects) keys.push_back(std::move(object.key));
      start_after = std::move(page.next_start_after);
      if (start_after.empty()) return keys;
    }
    return Broken("list", "its pages have no end");
  }

  static SizeFigures Summed(uint64_t size_bytes, std::vector<Duration> puts, std::vector<Duration> gets) {
    const auto at = [](const std::vector<Duration>& sorted, size_t percent) {
      return sorted[(sorted.size() - 1) * percent / 100];
    };
    std::ranges::sort(puts);
    std::ranges::sort(gets);
    const auto rate = [&](Duration time) {
      return static_cast<double>(size_bytes) / std::max(std::chrono::duration<double>(time).count(), 1e-9);
    };
    return {.size_bytes = size_bytes,
            .objects = puts.size(),
            .put_p50 = at(puts, 50),
            .put_p99 = at(puts, 99),
            .get_p50 = at(gets, 50),
            .get_p99 = at(gets, 99),
            .put_bytes_per_s = rate(at(puts, 50)),
            .get_bytes_per_s = rate(at(gets, 50))};
  }

  const Env env_;
  ObjectStore& second_;
  const std::string prefix_;
};

Result<std::vector<SizeFigures>> Probe(Env env, ObjectStore& second, std::string_view prefix,
                                       const FullProbeOptions& options) {
  const auto begin = [&](std::string_view phase) {
    if (options.progress) options.progress(phase);
  };
  FullProbe probe(env, second, prefix);
  begin("each rule once");
  const Result<void> rules = ProbeStore(env, fmt::format("{}rules/", prefix));
  if (FailedWith(rules, ErrorCode::kUnavailable)) return probe.CauseOf(rules.error());
  BW_TRY(Result<void>(rules));
  begin("racing creators");
  BW_TRY(probe.RaceCreators());
  begin("lists and ranges");
  BW_TRY(probe.List());
  BW_TRY(probe.ReadRanges());
  begin("overwrites in a race");
  BW_TRY(ProbeOverwrite(env, fmt::format("{}overwrite/", prefix)));
  begin("latency and bandwidth");
  std::vector<SizeFigures> figures;
  for (const int shift : {10, 20, 23, 26}) {
    const uint64_t size_bytes = uint64_t{1} << shift;
    if (size_bytes > std::min(options.object_bytes_max, env.store.traits().put_bytes_max)) continue;
    figures.push_back(BW_TRY(probe.Measure(size_bytes, options.time_per_size)));
    // On a slow link the larger ones would take minutes, and tell nothing new.
    if (figures.back().put_p50 + figures.back().get_p50 > options.time_per_size) break;
  }
  return figures;
}

}  // namespace

Result<std::vector<SizeFigures>> ProbeFully(Env env, ObjectStore& second, std::string_view prefix,
                                            const FullProbeOptions& options) {
  Result<std::vector<SizeFigures>> figures = Probe(env, second, prefix, options);
  const Result<uint64_t> cleaned = CleanProbes(env.store, prefix);
  // Of objects that mean nothing to anybody, "may have happened" is as good as "did not".
  if (FailedWith(figures, ErrorCode::kUnknownOutcome)) {
    return Error{ErrorCode::kUnavailable, figures.error().message};
  }
  if (figures.ok() && !cleaned.ok()) return cleaned.error();
  return figures;
}

Result<uint64_t> CleanProbes(ObjectStore& store, std::string_view prefix) {
  // As many as S3 takes in one DELETE.
  constexpr size_t kDeleteBatch = 1000;
  std::vector<std::string> keys;
  BW_TRY(ForEachObject(store, prefix, [&](const ListedObject& object) -> Result<void> {
    // A foreign one beside them, as of a gateway that died at an overwrite, cannot be named.
    if (IsValidKey(object.key)) keys.push_back(object.key);
    return {};
  }));
  for (size_t i = 0; i < keys.size(); i += kDeleteBatch) {
    BW_TRY(store.Delete(std::span(keys).subspan(i, std::min(kDeleteBatch, keys.size() - i))));
  }
  return keys.size();
}

}  // namespace batchweave
