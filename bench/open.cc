// The benchmark `open`: what a rank that comes back asks of the store before it has its first batch.
#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/store/metered_store.h"
#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "bench/benchmark.h"
#include "bench/long_stream.h"
#include "bench/measure.h"
#include "bench/workspace.h"

namespace batchweave::bench {
namespace {

constexpr const char* kStreamName = "open";

// Comparisons that share the time.
constexpr int kComparisons = 2;

struct Opening {
  StoreUsage usage;
  Duration took;
};

// As a fresh process does it: nothing is known but the name and the step.
Result<Opening> OpenAndRead(Env env, Step step) {
  MeteredStore metered(env.store);
  const TimePoint began = env.clock.Now();
  Stream stream = BW_TRY(
      Stream::Open({.store = metered, .clock = env.clock, .random = env.random, .threads = env.threads}, kStreamName));
  // Without prefetch, so that no request is for a step after the wanted one.
  ConsumerOptions options{.position = step, .rank = {}};
  options.prefetch_steps_max = 0;
  Consumer consumer = BW_TRY(stream.OpenConsumer(options));
  const std::optional<RankBatch> batch = BW_TRY(consumer.Next());
  BW_CHECK(batch && batch->step() == step);
  return Opening{.usage = metered.usage(), .took = env.clock.Now() - began};
}

// The most that opening any real step of the stream asks.
Result<StoreUsage> WorstUsage(Env env, const LongStream& stream) {
  StoreUsage worst;
  for (const Step step : stream.real_steps()) {
    const Opening opening = BW_TRY(OpenAndRead(env, step));
    if (opening.usage.requests() > worst.requests()) worst = opening.usage;
  }
  return worst;
}

Result<StoreUsage> UsageInMemory(const LongStreamShape& shape) {
  const auto owned = BW_TRY(OpenEnv("memory:"));
  const LongStream stream = BW_TRY(LongStream::Make(owned->env(), kStreamName, shape));
  return WorstUsage(owned->env(), stream);
}

// A stream on the local store, whose middle step is opened again and again.
class LocalSide {
 public:
  static Result<LocalSide> Make(const Workspace& workspace, std::string_view folder, const LongStreamShape& shape) {
    const std::string path = BW_TRY(workspace.Fresh(folder));
    auto owned = BW_TRY(OpenEnv(path, {.durability = Durability::kNone}));
    const LongStream stream = BW_TRY(LongStream::Make(owned->env(), kStreamName, shape));
    return LocalSide(std::move(owned), stream.real_steps()[1]);
  }

  // The mean of a few, since one takes about as long as an interruption.
  Result<Duration> Open() {
    Duration took{};
    for (int i = 0; i < kOpeningsARound; ++i) took += BW_TRY(OpenAndRead(owned_->env(), step_)).took;
    return took / kOpeningsARound;
  }

 private:
  static constexpr int kOpeningsARound = 5;
  LocalSide(std::unique_ptr<OwnedEnv> owned, Step step) : owned_(std::move(owned)), step_(step) {}
  std::unique_ptr<OwnedEnv> owned_;
  Step step_;
};

// `old` and its like with the fewest steps, and without tombstones. The ratio is of times: old over young.
Result<Comparison> CompareOpenings(const Settings& settings, const LongStreamShape& old_shape) {
  const Workspace workspace = BW_TRY(Workspace::Make(settings.folder));
  LongStreamShape young_shape = old_shape;
  young_shape.steps = kLongStreamStepsMin;
  young_shape.tombstones = 0;
  LocalSide young = BW_TRY(LocalSide::Make(workspace, "young", young_shape));
  LocalSide old = BW_TRY(LocalSide::Make(workspace, "old", old_shape));
  SystemClock clock;
  const RoundLimits limits{.rounds_max = settings.rounds_max, .time_max = settings.time_max / kComparisons};
  return Compare(clock, limits, [&] { return young.Open(); }, [&] { return old.Open(); });
}

}  // namespace

Result<Report> RunOpen(const Settings& settings) {
  const LongStreamShape alone{.steps = settings.steps};
  const LongStreamShape crowded = Crowded(alone, settings.steps / 10);
  Announce("requests of opening a long stream at a step of it, memory store");
  const StoreUsage usage_alone = BW_TRY(UsageInMemory(alone));
  const StoreUsage usage_crowded = BW_TRY(UsageInMemory(crowded));
  const StoreUsage& worst = usage_alone.requests() > usage_crowded.requests() ? usage_alone : usage_crowded;

  LongStreamShape retired = alone;
  retired.tombstones = settings.steps / 10;
  Announce("opening a long stream and a short one, local store");
  const Comparison plain = BW_TRY(CompareOpenings(settings, retired));
  Announce("the same with groups and many producers");
  retired = Crowded(retired, settings.steps / 10);
  const Comparison crowd = BW_TRY(CompareOpenings(settings, retired));
  const Target ratio_target{.kind = Target::Kind::kAtMost, .limit = 1.6};
  return Report{
      {.key = "requests",
       .value = static_cast<double>(worst.requests()),
       .target = Target{.kind = Target::Kind::kAtMost, .limit = 6},
       .meaning = "of all kinds, to open a stream and have the batch of a given step (first, middle, last: the most)"},
      {.key = "bytes_read",
       .value = static_cast<double>(worst.bytes_read),
       .target = {},
       .meaning = "by those requests"},
      {.key = "steps", .value = static_cast<double>(settings.steps), .target = {}, .meaning = "in the long stream"},
      {.key = "time_ratio",
       .value = plain.ratio,
       .target = ratio_target,
       .meaning = fmt::format("time to open the long stream, with a tenth as many tombstones, over one of {} steps",
                              kLongStreamStepsMin)},
      {.key = "time_ratio_crowded",
       .value = crowd.ratio,
       .target = ratio_target,
       .meaning = "both with 64 groups, 1000 producers and a tenth as many retired as the long one has steps"},
      {.key = "open_ms", .value = Seconds(plain.floor) * 1e3, .target = {}, .meaning = "median, the long stream"},
      {.key = "open_ms_crowded", .value = Seconds(crowd.floor) * 1e3, .target = {}, .meaning = "median, the long one"},
  };
}

}  // namespace batchweave::bench
