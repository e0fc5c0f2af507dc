#include "bench/soak/task_producer.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "bench/soak/batches.h"

namespace batchweave::bench {
namespace {

std::string CountNote(uint64_t runner) { return fmt::format("tasks-{}", runner); }

Result<void> RunTask(const SoakFolder& folder, OpenedSoak& opened, uint64_t runner, Duration period) {
  const Env env = opened.owned->env();
  const uint64_t task = CountTasksDone(folder, runner);
  Producer producer = BW_TRY(opened.stream.OpenProducer(SoakProducerName(TaskNumber(runner, task)), {.forget = true}));
  const auto& cursor = producer.cursor();
  for (uint64_t seq = cursor ? NumberIn(AsText(*cursor)) : 0; seq++ < kTaskBatches;) {
    GlobalBatch batch = BW_TRY(MakeSoakBatch(producer.name(), seq, WholeOf(kSoakGrid)));
    BW_TRY(producer.Publish(
        std::move(batch), {.cursor = ToBytes(std::to_string(seq)), .cursor_before = ToBytes(std::to_string(seq - 1))}));
    env.clock.SleepUntil(After(env.clock.Now(), period));
  }
  BW_TRY(producer.Flush());
  // Before it has finished: the name might else be forgotten, and all of it be published anew by the next life.
  BW_TRY(folder.PutNote(CountNote(runner), ToBytes(std::to_string(task + 1))));
  return producer.Finish();
}

}  // namespace

uint64_t CountTasksDone(const SoakFolder& folder, uint64_t runner) {
  const std::optional<Bytes> note = folder.FindNote(CountNote(runner));
  return note ? NumberIn(AsText(*note)) : 0;
}

Result<void> RunSoakTasks(const SoakFolder& folder, uint64_t runner, Duration period) {
  OpenedSoak opened = BW_TRY(OpenSoak(folder));
  do {  // Also where it was told to stop: an earlier life may have left a task half done.
    BW_TRY(RunTask(folder, opened, runner, period));
  } while (!folder.IsRaised(kStopSign));
  return {};
}

}  // namespace batchweave::bench
