// The benchmark `reclaim`: how fast what was trimmed is removed, and what the rest of the stream adds to that.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "batchweave/base/check.h"
#include "batchweave/lifecycle/reclaim.h"
#include "batchweave/lifecycle/trim.h"
#include "batchweave/log/history.h"
#include "batchweave/store/metered_store.h"
#include "batchweave/stream/open_env.h"
#include "bench/benchmark.h"
#include "bench/long_stream.h"
#include "bench/measure.h"
#include "bench/workspace.h"

namespace batchweave::bench {
namespace {

constexpr const char* kStreamName = "reclaim";
constexpr size_t kObjectBytes = 256;

// Comparisons that share the time.
constexpr int kComparisons = 2;

// Lets a group hold the steps from `first_kept` on, and trims the others. Returns the versions before and after.
struct Trimmed {
  LoggedManifest before;
  LoggedManifest after;
};
Result<Trimmed> TrimTo(LongStream& stream, Step first_kept) {
  BW_TRY(stream.stream().CreateGroup("holder", first_kept));
  ManifestLog& log = stream.stream().log();
  LoggedManifest before = BW_TRY(log.ReadNewest());
  LoggedManifest after = BW_TRY(Trim(log, kForever));
  BW_CHECK(after.manifest.first_step == first_kept);
  return Trimmed{.before = std::move(before), .after = std::move(after)};
}

// The objects of the first `steps` of the stream, small ones. Returns their keys.
Result<std::vector<std::string>> WriteObjects(Env env, LongStream& stream, uint64_t steps) {
  std::vector<std::string> keys;
  const StreamKeys& names = stream.stream().log().keys();
  const auto visit = [&](Step, const Entry& entry) -> Result<void> {
    keys.push_back(names.Data(entry.producer, entry.incarnation, entry.seq, entry.parts[0].nonce));
    return PutBytes(env.store, keys.back(), Bytes(kObjectBytes), PutMode::kOverwrite);
  };
  ManifestLog& log = stream.stream().log();
  BW_TRY(ForEachEntry(log, stream.newest().manifest, {.first = Step{0}, .end = Step{steps}}, visit));
  return keys;
}

// A stream whose first `steps` have objects and are trimmed.
struct Garbage {
  std::unique_ptr<OwnedEnv> owned;
  std::optional<LongStream> stream;
  std::vector<std::string> keys;
  std::optional<Trimmed> trimmed;
};
Result<Garbage> MakeGarbage(const std::string& folder, uint64_t steps) {
  Garbage made{
      .owned = BW_TRY(OpenEnv(folder, {.durability = Durability::kNone})), .stream = {}, .keys = {}, .trimmed = {}};
  const LongStreamShape shape{.steps = std::max(2 * steps, kLongStreamStepsMin), .producers = 8};
  made.stream = BW_TRY(LongStream::Make(made.owned->env(), kStreamName, shape));
  made.keys = BW_TRY(WriteObjects(made.owned->env(), *made.stream, steps));
  made.trimmed = BW_TRY(TrimTo(*made.stream, Step{steps}));
  return made;
}

enum class Way { kSweep, kTrimmed, kUnlink };

Result<Duration> Remove(const Workspace& workspace, uint64_t steps, Way way) {
  const std::string folder = BW_TRY(workspace.Fresh("stream"));
  Garbage garbage = BW_TRY(MakeGarbage(folder, steps));
  Clock& clock = garbage.owned->env().clock;
  ManifestLog& log = garbage.stream->stream().log();
  const TimePoint began = clock.Now();
  if (way == Way::kUnlink) {
    for (const std::string& key : garbage.keys) BW_CHECK(unlink(fmt::format("{}/{}", folder, key).c_str()) == 0);
  } else {
    const ReclaimReport report =
        way == Way::kSweep
            ? BW_TRY(Reclaim(log, {.overwrite_probed = true}))
            : BW_TRY(ReclaimTrimmed(log, garbage.trimmed->before.manifest, garbage.trimmed->after.manifest));
    BW_CHECK(report.objects >= garbage.keys.size());
  }
  return clock.Now() - began;
}

struct TrimmedCost {
  uint64_t requests = 0;
  uint64_t bytes = 0;
};

// Of removing the first `removed` steps of a stream of `live`.
Result<TrimmedCost> CostOfTrimmed(uint64_t live, uint64_t removed) {
  const auto owned = BW_TRY(OpenEnv("memory:"));
  const Env env = owned->env();
  MeteredStore metered(env.store);
  LongStream stream =
      BW_TRY(LongStream::Make({.store = metered, .clock = env.clock, .random = env.random, .threads = env.threads},
                              kStreamName, {.steps = live}));
  const Trimmed trimmed = BW_TRY(TrimTo(stream, Step{removed}));
  const StoreUsage before = metered.usage();
  BW_TRY(ReclaimTrimmed(stream.stream().log(), trimmed.before.manifest, trimmed.after.manifest));
  const StoreUsage usage = metered.usage() - before;
  return TrimmedCost{.requests = usage.requests(), .bytes = usage.bytes_read + usage.bytes_written};
}

// Of the trim of a tenth of a stream that has had many producers.
struct CrowdedTrim {
  Duration took{};
  uint64_t bytes_read = 0;
};
Result<CrowdedTrim> TrimCrowded(uint64_t steps) {
  const auto owned = BW_TRY(OpenEnv("memory:"));
  const Env env = owned->env();
  MeteredStore metered(env.store);
  LongStreamShape shape = Crowded({.steps = std::max(steps, kLongStreamStepsMin)}, steps / 10);
  shape.groups = 0;  // They would hold all.
  LongStream stream = BW_TRY(LongStream::Make(
      {.store = metered, .clock = env.clock, .random = env.random, .threads = env.threads}, kStreamName, shape));
  const StoreUsage before = metered.usage();
  const TimePoint began = env.clock.Now();
  BW_TRY(TrimTo(stream, Step{shape.steps / 10}));
  return CrowdedTrim{.took = env.clock.Now() - began, .bytes_read = (metered.usage() - before).bytes_read};
}

double Ratio(uint64_t a, uint64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

}  // namespace

Result<Report> RunReclaim(const Settings& settings) {
  const Workspace workspace = BW_TRY(Workspace::Make(settings.folder));
  const uint64_t removed = std::max<uint64_t>(settings.steps / 100, 10);
  SystemClock clock;
  const RoundLimits limits{.rounds_max = settings.rounds_max, .time_max = settings.time_max / kComparisons};
  const auto unlinked = [&] { return Remove(workspace, removed, Way::kUnlink); };
  Announce("a whole reclaim, and unlink(2)");
  const Comparison sweep =
      BW_TRY(Compare(clock, limits, [&] { return Remove(workspace, removed, Way::kSweep); }, unlinked));
  Announce("reclaim after a checkpoint, and unlink(2)");
  const Comparison trimmed =
      BW_TRY(Compare(clock, limits, [&] { return Remove(workspace, removed, Way::kTrimmed); }, unlinked));
  Announce("reclaim after a checkpoint in streams of two lengths");
  const uint64_t few = std::max(settings.steps / 10, kLongStreamStepsMin);
  const TrimmedCost of_few = BW_TRY(CostOfTrimmed(few, removed));
  const TrimmedCost of_many = BW_TRY(CostOfTrimmed(10 * few, removed));
  Announce("the trim of a stream that has had many producers");
  const CrowdedTrim crowded = BW_TRY(TrimCrowded(settings.steps));
  const Target at_least{.kind = Target::Kind::kAtLeast, .limit = 0.5};
  const Target flat{.kind = Target::Kind::kAtMost, .limit = 1.4};
  return Report{
      {.key = "deletes_per_s_ratio",
       .value = sweep.ratio,
       .target = at_least,
       .meaning = "speed of a whole reclaim over that of unlink(2) of the same files"},
      {.key = "deletes_per_s",
       .value = static_cast<double>(removed) / Seconds(sweep.candidate),
       .target = {},
       .meaning = fmt::format("of a whole reclaim; {} objects, {} rounds", removed, sweep.rounds)},
      {.key = "trimmed_deletes_per_s_ratio",
       .value = trimmed.ratio,
       .target = at_least,
       .meaning = "speed of the reclaim after a checkpoint over that of unlink(2)"},
      {.key = "trimmed_requests_ratio",
       .value = Ratio(of_many.requests, of_few.requests),
       .target = flat,
       .meaning = fmt::format("requests to remove {} steps, {} live over {} live", removed, 10 * few, few)},
      {.key = "trimmed_bytes_ratio",
       .value = Ratio(of_many.bytes, of_few.bytes),
       .target = flat,
       .meaning = "bytes read and written by them"},
      {.key = "trim_crowded_ms",
       .value = Seconds(crowded.took) * 1e3,
       .target = {},
       .meaning = "a group made and a tenth trimmed; 1000 producers and a tenth as many retired as steps"},
      {.key = "trim_crowded_bytes_read",
       .value = static_cast<double>(crowded.bytes_read),
       .target = {},
       .meaning = "by that: most of it is the table of producers"},
  };
}

}  // namespace batchweave::bench
