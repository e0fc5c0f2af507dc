// bw_bench NAME [--json]: the figures that BatchWeave promises, measured on this machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <optional>

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
     .details =
         "manifest_puts_per_commit: PUTs of manifests over versions committed, counted at the store.\n"
         "cost_ratio: commits to a stream of --steps live steps over those to one of 1000, in turns, from the moment "
         "its\n"
         "history was archived until it was twice more; the worst of mean time, bytes read and written, and requests.\n"
         "..._crowded: the same where both have 64 groups, 1000 producers, and retired ones, a tenth of --steps.",
     .default_folder = "",
     .run = RunCommit},
    {.name = "open",
     .summary = "A rank opens a stream of --steps at a given step.",
     .details = "requests: of every kind, counted at a memory store with ordered LIST, until the step's batch is "
                "there; the more\n"
                "of an empty crowd and one of 64 groups, 1000 producers, and retired ones, a tenth of --steps.\n"
                "time_ratio: of the same on the local store, with a tenth of --steps as tombstones, over that of a "
                "stream of 1000\n"
                "steps and none; time_ratio_crowded: both with the crowd.",
     .default_folder = "/dev/shm",
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
    {.name = "reclaim",
     .summary = "Trimmed batches are removed, local store on tmpfs.",
     .details = "deletes_per_s_ratio: objects a second of a whole reclaim, which lists and judges all, over those of "
                "unlink(2) of\n"
                "as many files of the same names. A hundredth of --steps are removed.\n"
                "trimmed_...: the same of what follows a checkpoint, which lists nothing.\n"
                "trimmed_requests_ratio: requests of that, with --steps live over a tenth of them, memory store.",
     .default_folder = "/dev/shm",
     .run = RunReclaim},
    {.name = "race",
     .summary = "Many processes commit bursts of small batches to one stream in one directory, with fsync.",
     .details =
         "Heats in turns: the law that users get, and fixed intervals from 10 ms to 3 s. A process publishes four "
         "batches of\n"
         "1 KiB, waits until they are committed, and goes on. Compared with the fixed interval of the most batches a "
         "second,\n"
         "which nobody knows beforehand.\n"
         "attempts_per_commit: manifests sent over versions committed. starved: processes of which a heat committed "
         "nothing.",
     .default_folder = "",
     .default_seconds = 120,
     .default_processes = 32,
     .run = RunRace},
    {.name = "consume",
     .summary = "A rank reads the sealed stream at --url once, to its end.",
     .details = "microseconds: from the first step after --warm to the end, with a consumer's own defaults. The other "
                "side of\n"
                "python -m batchweave.bench loader.",
     .default_folder = "",
     .run = RunConsume},
#ifdef BATCHWEAVE_BENCH_CLOUD
    {.name = "cloud",
     .summary = "A rank reads from S3 and a producer writes to it: versitygw on loopback.",
     .details =
         "read_ratio_vs_raw: bytes/s of a consumer, slices of 8 MiB, over those of GETs of the same ranges by "
         "libcurl;\n"
         "each the best of 1, 4 and 16 in flight. cpu_ratio_vs_raw: processor time of this process for the same.\n"
         "ingest_ratio_vs_raw: publish and commit of batches of 64 MiB over PUTs of the same bytes by libcurl.",
     .default_folder = "",
     .run = RunCloud},
#endif
    {.name = "soak",
     .summary = "Producers, part workers, ranks of two jobs and reclaimers live, are stopped or killed, and come back.",
     .details =
         "A tenth of the batches are written in parts; a third of the producers wait for the slowest job; tasks use a\n"
         "name once, for three batches; steps are quarantined, and some lifted; checkpoints trim, and half of them\n"
         "reclaim; jobs go on at their last checkpoint. At the end producers finish, the stream is sealed, ranks read\n"
         "to its end, and a quiet reclaim follows.\n"
         "violations: of a deep verify; batches that a rank missed, got twice, out of order or other than its "
         "fellows;\n"
         "processes that ended with an error other than waiting too long.\n"
         "rss_growth_mib: over what the process held after its first minute (or a fifth of the time, if that is less).",
     .default_folder = "",
     .default_seconds = 600,
     .run = RunSoak},
};

struct Arguments {
  std::string folder;
  size_t rounds = 1000;
  std::optional<double> seconds;
  std::optional<double> minutes;
  uint64_t mebibytes = 256;
  uint64_t steps = 1'000'000;
  std::optional<uint64_t> processes;
  std::string url;
  uint64_t warm_steps = 0;
  bool json = false;
};

CLI::App* AddCommand(CLI::App& app, const Benchmark& benchmark, Arguments& arguments) {
  CLI::App* command = app.add_subcommand(std::string(benchmark.name), std::string(benchmark.summary));
  command->footer(std::string(benchmark.details));
  command->add_flag("--json", arguments.json, "The last line is one JSON object, and there is no table");
  command->add_option("--dir", arguments.folder, "Where files are made, in a fresh folder that is removed again");
  command->add_option("--rounds", arguments.rounds, "Rounds of one comparison, at most")->capture_default_str();
  command->add_option("--seconds", arguments.seconds, "Time for all rounds together, about")
      ->default_str(fmt::format("{}", benchmark.default_seconds));
  command->add_option("--minutes", arguments.minutes, "The same in minutes");
  command->add_option("--processes", arguments.processes, "At once, where there are many")
      ->default_str(fmt::format("{}", benchmark.default_processes));
  command->add_option("--mib", arguments.mebibytes, "What one round moves, about")->capture_default_str();
  command->add_option("--steps", arguments.steps, "Steps of a long stream")
      ->check(CLI::Range(uint64_t{1000}, uint64_t{100'000'000}))
      ->capture_default_str();
  command->add_option("--url", arguments.url, "Of a stream that is there: what `consume` reads");
  command->add_option("--warm", arguments.warm_steps, "Steps of it before the clock starts")->capture_default_str();
  return command;
}

int Run(const Benchmark& benchmark, const Arguments& arguments) {
  const double seconds =
      arguments.minutes ? *arguments.minutes * 60 : arguments.seconds.value_or(benchmark.default_seconds);
  const Settings settings{.folder = arguments.folder.empty() ? std::string(benchmark.default_folder) : arguments.folder,
                          .rounds_max = arguments.rounds,
                          .time_max = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)),
                          .data_bytes = arguments.mebibytes << 20,
                          .steps = arguments.steps,
                          .processes = arguments.processes.value_or(benchmark.default_processes),
                          .url = arguments.url,
                          .warm_steps = arguments.warm_steps};
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
