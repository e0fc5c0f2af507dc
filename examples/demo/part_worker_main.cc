// demo_part_worker DIR --part P: fills parts of a producer's batches, as asked on standard input, and answers with
// receipts on standard output. It has no producer: a ticket is all that it needs, and it might run on any host.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <utility>

#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "examples/demo/data/tokenizer_training.h"
#include "examples/demo/process/job_options.h"
#include "examples/demo/process/part_order.h"

namespace batchweave::demo {
namespace {

// A line of standard input, without its end; none at the end of it.
std::optional<std::string> ReadLine() {
  std::string line;
  for (int character = std::getchar(); character != EOF; character = std::getchar()) {
    if (character == '\n') return line;
    line.push_back(static_cast<char>(character));
  }
  return std::nullopt;
}

// Packs the whole batch, whose place in the share is known by the cursor alone, and keeps what is of its part.
Result<PartDone> Fill(const PartOrder& order, BatchSource source, Stream& stream) {
  std::optional<PackedBatch> packed = BW_TRY(source.Next());
  if (!packed.has_value()) return Error{ErrorCode::kInvalidArgument, "no batch begins there: cursor=" + order.cursor};
  const GridRange& range = order.range;
  GlobalBatch slices({.dp = range.dp_count, .cp = range.cp_count});
  for (uint32_t dp = 0; dp < range.dp_count; ++dp) {
    for (uint32_t cp = 0; cp < range.cp_count; ++cp) {
      const uint32_t index = (range.dp_begin + dp) * order.ticket.grid.cp + range.cp_begin + cp;
      BW_TRY(slices.Set({.dp = dp, .cp = cp}, std::move(packed->slices.at(index))));
    }
  }
  PartReceipt receipt = BW_TRY(stream.WritePart(order.ticket, range, slices));
  return PartDone{
      .receipt = std::move(receipt), .cursor = std::move(packed->cursor), .samples_ended = packed->samples_ended};
}

Result<void> Run(const JobOptions& job) {
  const Corpus corpus = BW_TRY(Corpus::Open(job.corpus));
  const Tokenizer tokenizer = BW_TRY(LoadOrTrainTokenizer(corpus, TokenizerPath(job.corpus.directory, corpus)));
  const auto env = BW_TRY(OpenEnv(job.store()));
  Stream stream = BW_TRY(Stream::Open(env->env(), kStreamName));
  for (std::optional<std::string> line = ReadLine(); line.has_value(); line = ReadLine()) {
    const PartOrder order = BW_TRY(ParsePartOrder(*line));
    BatchSource source = BW_TRY(BatchSource::From(corpus, tokenizer, job.packing, order.cursor));
    const PartDone done = BW_TRY(Fill(order, std::move(source), stream));
    fmt::print("{}\n", ToLine(done));
    std::fflush(stdout);
  }
  return {};
}

}  // namespace
}  // namespace batchweave::demo

int main(int argc, char** argv) {
  batchweave::demo::JobOptions job;
  CLI::App app("Fills parts of the batches of one of the demo's producers.");
  batchweave::demo::AddJobOptions(app, job);
  app.add_option("--part", job.packing.part, "the producer's share of the corpus")->required();
  CLI11_PARSE(app, argc, argv);
  const batchweave::Result<void> result = batchweave::demo::Run(job);
  if (result.ok()) return 0;
  fmt::print(stderr, "demo_part_worker: {}\n", batchweave::ToString(result.error()));
  return 1;
}
