// demo_rank DIR --record FILE: one rank of the demo's training job. Folds the slices of its mesh coordinate, and goes
// on from its last saved record: kill it at any time and start it again.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <string>

#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "examples/demo/data/record.h"
#include "examples/demo/process/job_options.h"
#include "examples/demo/process/progress_report.h"

namespace batchweave::demo {
namespace {

// Longer than a killed producer takes to come back on a busy machine, short enough to see that a job is stuck.
constexpr Duration kStallAfter = std::chrono::minutes(1);

struct Arguments {
  std::string directory;
  std::string record_path;
  MeshRank rank;
  uint64_t start_step = 0;
  uint64_t end_step = UINT64_MAX;
  uint64_t save_every = 8;
  uint64_t pace_ms = 0;
  uint64_t stand_at = UINT64_MAX;
  std::string group;
  uint64_t session = 0;
  std::string store_url;
};

Result<Record> LoadOrBegin(const Arguments& arguments) {
  Result<Record> saved = Record::Load(arguments.record_path);
  if (!FailedWith(saved, ErrorCode::kNotFound)) return saved;
  Record record;
  record.position = arguments.start_step;
  return record;
}

void Report(ProgressReport::Event event, const Record& record, uint64_t saved, const Consumer& rank) {
  const ConsumerStats stats = rank.stats();
  PrintReport({.event = event,
               .at = record.position,
               .saved = saved,
               .bytes = stats.delivered_bytes,
               .requests = stats.payload_gets});
}

Result<void> Run(const Arguments& arguments) {
  JobOptions job;
  job.corpus.directory = arguments.directory;
  job.store_url = arguments.store_url;
  const auto env = BW_TRY(OpenEnv(job.store()));
  Stream stream = BW_TRY(Stream::Open(env->env(), kStreamName));
  Record record = BW_TRY(LoadOrBegin(arguments));
  Consumer rank = BW_TRY(stream.OpenConsumer({.position = Step{record.position},
                                              .rank = arguments.rank,
                                              .group = arguments.group,
                                              .session = Session{arguments.session},
                                              .stall_after = kStallAfter}));
  Clock& clock = env->env().clock;
  const Duration pace = std::chrono::milliseconds(arguments.pace_ms);
  TimePoint due = clock.Now();
  uint64_t saved = record.position;
  Report(ProgressReport::Event::kBegin, record, saved, rank);
  while (record.position < arguments.end_step) {
    clock.SleepUntil(due);
    due = After(due, pace);
    const std::optional<RankBatch> batch = BW_TRY(rank.Next());
    if (!batch.has_value()) break;  // The stream is sealed, and this was its last step.
    for (const batchweave::Slice& slice : batch->slices()) BW_TRY(record.Fold(slice.bytes));
    record.position = rank.position().value;
    if (record.position % arguments.save_every == 0) {
      BW_TRY(record.Save(arguments.record_path));
      saved = record.position;
    }
    Report(ProgressReport::Event::kStep, record, saved, rank);
    if (record.position == arguments.stand_at) clock.SleepUntil(kForever);
  }
  BW_TRY(record.Save(arguments.record_path));
  Report(ProgressReport::Event::kEnd, record, record.position, rank);
  return {};
}

}  // namespace
}  // namespace batchweave::demo

int main(int argc, char** argv) {
  batchweave::demo::Arguments arguments;
  CLI::App app("Folds what one rank of a training job reads, from its last saved record on.");
  app.add_option("directory", arguments.directory, "where the demo's data lies")->required();
  app.add_option("--record", arguments.record_path, "the file that the rank is saved in")->required();
  app.add_option("--dp-rank", arguments.rank.dp_rank, "data-parallel rank")->capture_default_str();
  app.add_option("--dp-size", arguments.rank.dp_size, "of how many")->capture_default_str();
  app.add_option("--cp-rank", arguments.rank.cp_rank, "context-parallel rank")->capture_default_str();
  app.add_option("--cp-size", arguments.rank.cp_size, "of how many")->capture_default_str();
  app.add_option("--start-step", arguments.start_step, "where to begin if nothing was saved")->capture_default_str();
  app.add_option("--end-step", arguments.end_step, "the first step not to read; default: the end of the stream");
  app.add_option("--save-every", arguments.save_every, "steps from one saved record to the next")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--pace-ms", arguments.pace_ms, "milliseconds from one step to the next, at least")
      ->capture_default_str();
  app.add_option("--stand-at", arguments.stand_at, "the step at which to stand still, until killed; default: none");
  app.add_option("--group", arguments.group, "the group that holds what the rank reads; default: none does");
  app.add_option("--session", arguments.session, "of the group, from whoever opened it");
  app.add_option("--store", arguments.store_url, "URL of the folder that holds the stream; default: beside the data");
  CLI11_PARSE(app, argc, argv);
  const batchweave::Result<void> result = batchweave::demo::Run(arguments);
  if (result.ok()) return 0;
  fmt::print(stderr, "demo_rank: {}\n", batchweave::ToString(result.error()));
  return 1;
}
