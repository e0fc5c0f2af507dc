// demo_reference DIR: folds the demo's whole corpus in one process, without a stream, and says what came out.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <string>

#include "examples/demo/data/reference.h"
#include "examples/demo/data/tokenizer_training.h"

namespace batchweave::demo {
namespace {

struct Arguments {
  CorpusOptions corpus;
  PackingOptions packing{.parts = 3};
  std::string record_path;
};

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Result<void> Run(const Arguments& arguments) {
  auto start = std::chrono::steady_clock::now();
  const Corpus corpus = BW_TRY(Corpus::Open(arguments.corpus));
  fmt::print("corpus      {} samples, fingerprint {:016x}, listed in {:.2f} s\n", corpus.samples().size(),
             corpus.fingerprint(), SecondsSince(start));
  start = std::chrono::steady_clock::now();
  const std::string model_path = TokenizerPath(arguments.corpus.directory, corpus);
  const Tokenizer tokenizer = BW_TRY(LoadOrTrainTokenizer(corpus, model_path));
  fmt::print("tokenizer   {}, ready in {:.2f} s\n", model_path, SecondsSince(start));
  start = std::chrono::steady_clock::now();
  const Record record = BW_TRY(FoldReference(corpus, tokenizer, arguments.packing, [](double) {}));
  fmt::print("packed      {} batches, folded in {:.2f} s\n", record.position, SecondsSince(start));
  fmt::print("folded      {} text tokens, {} patches\n", record.statistic.text_tokens(), record.statistic.patches());
  for (const Moments& channel : record.statistic.channels()) {
    fmt::print("channel     {} values, mean {:.2f}, deviation {:.2f}\n", channel.count, MeanOf(channel),
               DeviationOf(channel));
  }
  const AuditReport audit = record.ledger.Audit(IdsOf(corpus));
  fmt::print("audit       {} of {} delivered once, {} missing, {} more than once, {} unknown\n", audit.delivered,
             audit.samples, audit.missing, audit.duplicates, audit.unknown);
  fmt::print("statistic   {:016x}\n", record.statistic.Digest());
  if (!arguments.record_path.empty()) BW_TRY(record.Save(arguments.record_path));
  return {};
}

}  // namespace
}  // namespace batchweave::demo

int main(int argc, char** argv) {
  batchweave::demo::Arguments arguments;
  CLI::App app("Folds the demo's corpus in one process, without a stream.");
  app.add_option("directory", arguments.corpus.directory, "where fetch.sh put the data")->required();
  app.add_option("--keep-one-in", arguments.corpus.keep_one_in, "use each Nth sample only");
  app.add_option("--parts", arguments.packing.parts, "shares to pack, one a producer");
  app.add_option("--sequence-length", arguments.packing.sequence_length, "positions of a sequence");
  app.add_option("--record", arguments.record_path, "file to save the record in");
  CLI11_PARSE(app, argc, argv);
  const batchweave::Result<void> result = batchweave::demo::Run(arguments);
  if (result.ok()) return 0;
  fmt::print(stderr, "demo_reference: {}\n", batchweave::ToString(result.error()));
  return 1;
}
