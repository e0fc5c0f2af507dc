// The benchmark `open`: what a rank that comes back asks of the store before it has its first batch.
#include <algorithm>

#include "batchweave/base/check.h"
#include "batchweave/store/metered_store.h"
#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "bench/benchmark.h"
#include "bench/measure.h"
#include "bench/sample_stream.h"

namespace batchweave::bench {
namespace {

constexpr const char* kStreamName = "open";
constexpr uint64_t kSteps = 1000;

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

}  // namespace

Result<Report> RunOpen(const Settings&) {
  const auto owned = BW_TRY(OpenEnv("memory:"));
  const Env env = owned->env();
  Announce("opening a stream at a step of it");
  Stream stream = BW_TRY(Stream::Create(env, kStreamName));
  Producer producer = BW_TRY(stream.OpenProducer("writer"));
  BW_TRY(PublishSteps(producer, SamplePayload(env.random, {.grid = {.dp = 1, .cp = 1}, .slice_bytes = 1024}), kSteps));
  StoreUsage worst;
  std::vector<double> milliseconds;
  for (const uint64_t step : {uint64_t{0}, kSteps / 2, kSteps - 1}) {
    const Opening opening = BW_TRY(OpenAndRead(env, Step{step}));
    if (opening.usage.requests() > worst.requests()) worst = opening.usage;
    milliseconds.push_back(Seconds(opening.took) * 1e3);
  }
  return Report{
      {.key = "requests",
       .value = static_cast<double>(worst.requests()),
       .target = Target{.kind = Target::Kind::kAtMost, .limit = 6},
       .meaning = "of all kinds, to open a stream and have the batch of a given step (first, middle, last: the most)"},
      {.key = "bytes_read",
       .value = static_cast<double>(worst.bytes_read),
       .target = {},
       .meaning = "by those requests"},
      {.key = "steps", .value = static_cast<double>(kSteps), .target = {}, .meaning = "in the stream"},
      {.key = "open_ms", .value = Median(milliseconds), .target = {}, .meaning = "median time, memory store"},
  };
}

}  // namespace batchweave::bench
