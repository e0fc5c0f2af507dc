// demo_producer DIR --part P: one producer of the demo. Packs its share of the corpus and publishes it, from where the
// stream says that it stopped: kill it at any time and start it again.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <string>

#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "examples/demo/data/tokenizer_training.h"
#include "examples/demo/process/job_options.h"
#include "examples/demo/process/progress_report.h"

namespace batchweave::demo {
namespace {

struct Arguments {
  JobOptions job;
  uint64_t pace_ms = 0;
};

Result<GlobalBatch> ToGlobalBatch(Grid grid, std::vector<Bytes> slices) {
  GlobalBatch batch(grid, {.content_type = "application/x-batchweave-demo"});
  for (uint32_t dp = 0; dp < grid.dp; ++dp) {
    for (uint32_t cp = 0; cp < grid.cp; ++cp) {
      BW_TRY(batch.Set({.dp = dp, .cp = cp}, std::move(slices[dp * grid.cp + cp])));
    }
  }
  return batch;
}

// Publishes what `source` has to give, a batch each `pace` at most.
Result<void> PublishAll(Producer& producer, BatchSource& source, const Arguments& arguments, Clock& clock) {
  const Duration pace = std::chrono::milliseconds(arguments.pace_ms);
  Bytes cursor = producer.cursor().value_or(Bytes());
  TimePoint due = clock.Now();
  for (;;) {
    std::optional<PackedBatch> packed = BW_TRY(source.Next());
    if (!packed.has_value()) return {};
    clock.SleepUntil(due);
    due = After(due, pace);
    GlobalBatch batch = BW_TRY(ToGlobalBatch(arguments.job.packing.grid, std::move(packed->slices)));
    const PublishOptions options{.cursor = ToBytes(packed->cursor),
                                 .cursor_before = std::move(cursor),
                                 .samples = packed->samples_ended,
                                 .metadata = ToBytes(fmt::format(R"({{"share":{:.4f}}})", source.progress()))};
    const uint64_t seq = BW_TRY(producer.Publish(std::move(batch), options));
    cursor = options.cursor;
    PrintReport({.event = ProgressReport::Event::kStep, .at = seq, .share = source.progress()});
  }
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
  const Bytes cursor = producer.cursor().value_or(Bytes());
  BatchSource source = BW_TRY(BatchSource::From(corpus, tokenizer, job.packing, AsText(cursor)));
  PrintReport({.event = ProgressReport::Event::kBegin, .at = producer.committed_seq(), .share = source.progress()});
  BW_TRY(PublishAll(producer, source, arguments, env->env().clock));
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
  app.add_option("--parts", arguments.job.packing.parts, "of how many, one a producer")->capture_default_str();
  app.add_option("--pace-ms", arguments.pace_ms, "milliseconds from one batch to the next, at least")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const batchweave::Result<void> result = batchweave::demo::Run(arguments);
  if (result.ok()) return 0;
  fmt::print(stderr, "demo_producer: {}\n", batchweave::ToString(result.error()));
  return 1;
}
