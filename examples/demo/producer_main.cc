// demo_producer DIR --part P: one producer of the demo. Packs its share of the corpus and publishes it, from where the
// stream says that it stopped: kill it at any time and start it again.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "examples/demo/data/tokenizer_training.h"
#include "examples/demo/process/job_options.h"
#include "examples/demo/process/part_workers.h"
#include "examples/demo/process/progress_report.h"

namespace batchweave::demo {
namespace {

constexpr std::string_view kContentType = "application/x-batchweave-demo";

struct Arguments {
  JobOptions job;
  uint64_t pace_ms = 0;
  uint64_t parted_every = 10;
  uint64_t stand_at = UINT64_MAX;
};

// All that is at hand while a share is published.
struct Publication {
  const Corpus& corpus;
  const Tokenizer& tokenizer;
  const PackingOptions& packing;
  Producer& producer;
  PartWorkers& workers;
  BatchSource source;
  std::string cursor;  // Where the source stands.
};

Result<GlobalBatch> ToGlobalBatch(Grid grid, std::vector<Bytes> slices) {
  GlobalBatch batch(grid, {.content_type = std::string(kContentType)});
  for (uint32_t dp = 0; dp < grid.dp; ++dp) {
    for (uint32_t cp = 0; cp < grid.cp; ++cp) {
      BW_TRY(batch.Set({.dp = dp, .cp = cp}, std::move(slices[dp * grid.cp + cp])));
    }
  }
  return batch;
}

PublishOptions OptionsOf(const Publication& at, const std::string& cursor_after, uint64_t samples) {
  return {.cursor = ToBytes(cursor_after), .cursor_before = ToBytes(at.cursor), .samples = samples};
}

// The next batch, packed here. Returns its seq.
Result<uint64_t> PublishWhole(Publication& at) {
  PackedBatch packed = *BW_TRY(at.source.Next());
  GlobalBatch batch = BW_TRY(ToGlobalBatch(at.packing.grid, std::move(packed.slices)));
  const PublishOptions options = OptionsOf(at, packed.cursor, packed.samples_ended);
  const uint64_t seq = BW_TRY(at.producer.Publish(std::move(batch), options));
  at.cursor = std::move(packed.cursor);
  return seq;
}

// The next batch, packed and written by other processes: only receipts come here. Returns its seq.
Result<uint64_t> PublishInParts(Publication& at) {
  const PartTicket ticket =
      BW_TRY(at.producer.NextTicket(at.packing.grid, {.content_type = std::string(kContentType)}));
  PartWorkers::Batch batch = BW_TRY(at.workers.Make(ticket, at.cursor));
  const PublishOptions options = OptionsOf(at, batch.cursor, batch.samples_ended);
  const uint64_t seq = BW_TRY(at.producer.PublishParts(batch.receipts, options));
  at.cursor = std::move(batch.cursor);
  at.source = BW_TRY(BatchSource::From(at.corpus, at.tokenizer, at.packing, at.cursor));
  return seq;
}

// Publishes what is left of the share, a batch each `pace` at most.
Result<void> PublishAll(Publication at, const Arguments& arguments, Clock& clock) {
  const Duration pace = std::chrono::milliseconds(arguments.pace_ms);
  TimePoint due = clock.Now();
  uint64_t seq = at.producer.committed_seq();
  while (at.source.progress() < 1) {
    clock.SleepUntil(due);
    due = After(due, pace);
    const bool in_parts = arguments.parted_every > 0 && (seq + 1) % arguments.parted_every == 0;
    seq = BW_TRY(in_parts ? PublishInParts(at) : PublishWhole(at));
    PrintReport({.event = ProgressReport::Event::kStep, .at = seq, .share = at.source.progress()});
    if (seq == arguments.stand_at) clock.SleepUntil(kForever);
  }
  return {};
}

Result<void> Run(const Arguments& arguments) {
  const JobOptions& job = arguments.job;
  const Corpus corpus = BW_TRY(Corpus::Open(job.corpus));
  const Tokenizer tokenizer = BW_TRY(LoadOrTrainTokenizer(corpus, TokenizerPath(job.corpus.directory, corpus)));
  const auto env = BW_TRY(OpenEnv(job.store()));
  Stream stream = BW_TRY(Stream::Open(env->env(), kStreamName));
  Result<Producer> opened = stream.OpenProducer(fmt::format("tokenizer-{}", job.packing.part));
  if (FailedWith(opened, ErrorCode::kAlreadyExists)) {  // Killed after it had finished: nothing is left to do.
    PrintReport({.event = ProgressReport::Event::kEnd, .share = 1});
    return {};
  }
  Producer producer = BW_TRY(std::move(opened));
  const std::string cursor(AsText(producer.cursor().value_or(Bytes())));
  BatchSource source = BW_TRY(BatchSource::From(corpus, tokenizer, job.packing, cursor));
  PartWorkers workers = BW_TRY(PartWorkers::Start(job, ProgramsFolder(), env->env().clock));
  PrintReport({.event = ProgressReport::Event::kBegin, .at = producer.committed_seq(), .share = source.progress()});
  BW_TRY(PublishAll({.corpus = corpus,
                     .tokenizer = tokenizer,
                     .packing = job.packing,
                     .producer = producer,
                     .workers = workers,
                     .source = std::move(source),
                     .cursor = cursor},
                    arguments, env->env().clock));
  BW_TRY(producer.Finish());
  PrintReport({.event = ProgressReport::Event::kEnd, .at = producer.committed_seq(), .share = 1});
  return {};
}

}  // namespace
}  // namespace batchweave::demo

int main(int argc, char** argv) {
  batchweave::demo::Arguments arguments;
  CLI::App app("Publishes one share of the demo's corpus, from where the stream says that it stopped.");
  batchweave::demo::AddJobOptions(app, arguments.job);
  app.add_option("--part", arguments.job.packing.part, "which share of the corpus")->required();
  app.add_option("--pace-ms", arguments.pace_ms, "milliseconds from one batch to the next, at least")
      ->capture_default_str();
  app.add_option("--parted-every", arguments.parted_every, "of so many batches one is made by two workers; 0: none")
      ->capture_default_str();
  app.add_option("--stand-at", arguments.stand_at,
                 "after how many batches to stand still, until killed; default: none");
  CLI11_PARSE(app, argc, argv);
  const batchweave::Result<void> result = batchweave::demo::Run(arguments);
  if (result.ok()) return 0;
  fmt::print(stderr, "demo_producer: {}\n", batchweave::ToString(result.error()));
  return 1;
}
