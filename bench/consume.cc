// The benchmark `consume`: one rank reads a stream that is there, once. The C++ side of `python -m batchweave.bench`.
#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "batchweave/stream/stream_url.h"
#include "bench/benchmark.h"

namespace batchweave::bench {

Result<Report> RunConsume(const Settings& settings) {
  const StreamUrl url = BW_TRY(SplitStreamUrl(settings.url));
  const std::unique_ptr<OwnedEnv> env = BW_TRY(OpenEnv(url.folder));
  Stream stream = BW_TRY(Stream::Open(env->env(), url.name));
  Consumer consumer = BW_TRY(stream.OpenConsumer({}));
  Clock& clock = env->env().clock;
  TimePoint began = clock.Now();
  uint64_t steps = 0;
  uint64_t bytes = 0;
  while (const std::optional<RankBatch> batch = BW_TRY(consumer.Next())) {
    for (const Slice& slice : batch->slices()) bytes += slice.bytes.size();
    if (++steps == settings.warm_steps) {
      began = clock.Now();
      bytes = 0;
    }
  }
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(clock.Now() - began);
  return Report{
      {.key = "steps", .value = static_cast<double>(steps), .target = {}, .meaning = "of the stream, all of them read"},
      {.key = "bytes", .value = static_cast<double>(bytes), .target = {}, .meaning = "of slices, after --warm steps"},
      {.key = "microseconds", .value = static_cast<double>(took.count()), .target = {}, .meaning = "that they took"}};
}

}  // namespace batchweave::bench
