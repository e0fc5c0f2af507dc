// bw_bench NAME [--json]: the figures that BatchWeave promises, measured on this machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "bench/benchmark.h"
#include "bench/report.h"

namespace batchweave::bench {
namespace {

constexpr Benchmark kBenchmarks[] = {
    {.name = "read",
     .summary = "A rank reads from a local store whose files are in the page cache, checks on.",
     .details =
         "ratio_8mib, ratio_1mib: bytes/s of a consumer with one prefetch thread over those of a plain loop: open,\n"
         "pread of the slice into one reused buffer, XXH3 of the buffer, on one thread. 1 is as fast as the loop.\n"
         "ratio_1mib_inline: the same with prefetch depth 0, where Next() reads in the caller's thread.\n"
         "gets_per_step, read_amplification_*: counted at the store, 64 slices of 1 MiB a step.",
     .default_folder = "",
     .run = RunRead},
    {.name = "commit",
     .summary = "A lone producer commits one batch after the other, memory store.",
     .details = "manifest_puts_per_commit: PUTs of manifests over versions committed, counted at the store.",
     .default_folder = "",
     .run = RunCommit},
    {.name = "open",
     .summary = "A rank opens a stream at a given step, memory store with ordered LIST.",
     .details = "requests: of every kind, counted at the store, until the step's batch is there.",
     .default_folder = "",
     .run = RunOpen},
    {.name = "publish",
     .summary = "A producer publishes and commits batches of 8 slices of 1 MiB, on tmpfs.",
     .details =
         "ratio_tmpfs: bytes/s of Publish() and Flush() of one batch after the other over those of write(2) of the\n"
         "same bytes into fresh files on one thread. 1 is as fast as write(2).\n"
         "copy_ratio: bytes/s of copying slices and hashing them on the way, as GlobalBatch::SetCopy does, over those "
         "of\n"
         "memcpy of the same slices to the same places: half of --mib, which is to be more than the caches hold.",
     .default_folder = "/dev/shm",
     .run = RunPublish},
};

struct Arguments {
  std::string folder;
  size_t rounds = 1000;
  double seconds = 30;
  uint64_t mebibytes = 256;
  bool json = false;
};

CLI::App* AddCommand(CLI::App& app, const Benchmark& benchmark, Arguments& arguments) {
  CLI::App* command = app.add_subcommand(std::string(benchmark.name), std::string(benchmark.summary));
  command->footer(std::string(benchmark.details));
  command->add_flag("--json", arguments.json, "The last line is one JSON object, and there is no table");
  command->add_option("--dir", arguments.folder, "Where files are made, in a fresh folder that is removed again");
  command->add_option("--rounds", arguments.rounds, "Rounds of one comparison, at most")->capture_default_str();
  command->add_option("--seconds", arguments.seconds, "Time for all rounds together, about")->capture_default_str();
  command->add_option("--mib", arguments.mebibytes, "What one round moves, about")->capture_default_str();
  return command;
}

int Run(const Benchmark& benchmark, const Arguments& arguments) {
  const Settings settings{
      .folder = arguments.folder.empty() ? std::string(benchmark.default_folder) : arguments.folder,
      .rounds_max = arguments.rounds,
      .time_max = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(arguments.seconds)),
      .data_bytes = arguments.mebibytes << 20};
  const Result<Report> report = benchmark.run(settings);
  if (!report.ok()) {
    fmt::print(stderr, "bw_bench {}: {}\n", benchmark.name, ToString(report.error()));
    return 1;
  }
  if (arguments.json) {
    fmt::print("{}\n", ToJson(*report));
    return 0;
  }
  fmt::print("{}\n\n{}\n{}\n", benchmark.summary, ToTable(*report), benchmark.details);
  return 0;
}

int Main(int argc, char** argv) {
  CLI::App app("Measures what BatchWeave promises. Ratios are medians over rounds in which both sides take turns.");
  app.require_subcommand(1);
  Arguments arguments;
  int exit_code = 0;
  for (const Benchmark& benchmark : kBenchmarks) {
    AddCommand(app, benchmark, arguments)->callback([&] { exit_code = Run(benchmark, arguments); });
  }
  CLI11_PARSE(app, argc, argv);
  return exit_code;
}

}  // namespace
}  // namespace batchweave::bench

int main(int argc, char** argv) { return batchweave::bench::Main(argc, argv); }
