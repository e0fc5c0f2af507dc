// bw_sim: the protocol under a deterministic simulator. docs/simulation.md.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "batchweave/base/mutation.h"
#include "batchweave/base/random.h"
#include "sim/mutations.h"
#include "sim/plan.h"
#include "sim/run_seeds.h"
#include "sim/scale/scale.h"
#include "sim/scale/scenario.h"
#include "sim/trace.h"

namespace batchweave::sim {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::optional<uint64_t> seed;
  bool trace = false;
  uint64_t seeds = 0;
  uint64_t from = 1;
  bool fresh = false;
  std::string until;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  bool json = false;
  bool mutations = false;
  uint64_t seeds_max = 1500;
  std::string mutant;
  std::vector<std::string> only;
  std::string mutation;
  ScaleOptions scale;
};

std::string HowToReplay(uint64_t seed, const std::string& mutation) {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  return fmt::format("{}{} --seed {}", self.string(), mutation.empty() ? "" : " --mutation " + mutation, seed);
}

void PrintBreach(const Outcome& outcome, const std::string& mutation) {
  fmt::print("seed {} breaks what docs/protocol.md promises ({}):\n", outcome.seed, Describe(MakePlan(outcome.seed)));
  for (const Violation& violation : outcome.violations) {
    fmt::print("  {} at {}: {}\n", violation.invariant, TimeText(violation.when), violation.message);
  }
  fmt::print("{}again: {}\n", outcome.story, HowToReplay(outcome.seed, mutation));
}

int RunOneSeed(const Options& options) {
  fmt::print("{}\n", Describe(MakePlan(*options.seed)));
  std::fflush(stdout);
  const Outcome outcome = Simulate(*options.seed, {.print_trace = options.trace});
  if (!outcome.violations.empty()) PrintBreach(outcome, options.mutation);
  fmt::print("seed {}: trace {:016x}, {} operations, {} commits, {} steps, {} simulated, {}\n", outcome.seed,
             outcome.trace_hash, outcome.operations, outcome.commits, outcome.steps, TimeText(outcome.simulated),
             outcome.violations.empty() ? "no breach" : "BREACH");
  return outcome.violations.empty() ? 0 : 1;
}

Json ToJson(const Totals& totals) {
  Json faults = Json::object();
  for (size_t kind = 0; kind < kFaultKinds; ++kind) {
    faults[std::string(FaultKindName(static_cast<FaultKind>(kind)))] = totals.faults.at(kind);
  }
  return {{"seeds", totals.seeds},
          {"violations", totals.violations},
          {"operations", totals.operations},
          {"commits", totals.commits},
          {"simulated_hours", std::chrono::duration<double>(totals.simulated).count() / 3600},
          {"faults", faults}};
}

int RunManySeeds(const Options& options) {
  SystemRandom random;
  const uint64_t first = options.fresh ? random.Next() >> 16 : options.from;
  if (!options.json || options.fresh) fmt::print("seeds {} to {}\n", first, first + options.seeds - 1);
  const bool progress = isatty(STDERR_FILENO) != 0;
  uint64_t done = 0;
  const auto on_outcome = [&](const Outcome& outcome) {
    done += 1;
    if (progress) fmt::print(stderr, "\r{} of {} seeds", done, options.seeds);
    if (outcome.violations.empty() || !options.until.empty()) return;
    PrintBreach(outcome, options.mutation);
    std::fflush(stdout);
  };
  const Totals totals = RunSeeds({.first_seed = first,
                                  .seeds = options.seeds,
                                  .jobs = options.jobs,
                                  .until = options.until,
                                  .on_outcome = on_outcome});
  if (progress) fmt::print(stderr, "\n");
  Json json = ToJson(totals);
  if (!options.until.empty()) json["found"] = totals.found;
  if (options.json) {
    fmt::print("{}\n", json.dump());
  } else {
    fmt::print("{} seeds, {} with a breach; {} commits in {:.1f} simulated hours\n", totals.seeds, totals.violations,
               totals.commits, json["simulated_hours"].get<double>());
  }
  return totals.violations == 0 ? 0 : 1;
}

int RunAllMutations(const Options& options, const std::string& own_path) {
  std::filesystem::path mutant = options.mutant;
  if (mutant.empty()) mutant = std::filesystem::path(own_path).parent_path().parent_path() / "mutant" / "bw_sim";
  MutationOptions run{
      .binary = mutant.string(), .first_seed = options.from, .seeds_max = options.seeds_max, .jobs = options.jobs};
  for (const std::string& name : options.only) {
    const std::optional<Mutation> mutation = FindMutation(name);
    if (!mutation) {
      fmt::print(stderr, "no such mutation: {}\n", name);
      return 2;
    }
    run.only.push_back(*mutation);
  }
  const std::string wrong = CheckUnmutated(run);
  if (!wrong.empty()) {
    fmt::print(stderr, "{}\n", wrong);
    return 1;
  }
  const std::vector<MutationRun> runs = RunMutations(run);
  const auto caught = std::ranges::count(runs, true, &MutationRun::caught);
  if (options.json) {
    fmt::print("{}\n", Json{{"mutations", runs.size()}, {"caught", caught}}.dump());
  } else {
    fmt::print("{} of {} mutations caught\n", caught, runs.size());
  }
  return static_cast<size_t>(caught) == runs.size() ? 0 : 1;
}

CLI::App* AddScale(CLI::App& app, ScaleOptions& options) {
  CLI::App* scale = app.add_subcommand("scale", "Laws of committing side by side, from 1 producer to 10,000");
  scale->add_flag("--full", options.full, "Every store, every interval of `fixed`, and manifests of 10^6 steps");
  scale->add_flag("--json", options.json, "The last line is one JSON object");
  scale->add_option("--jobs", options.jobs, "Processes")->capture_default_str();
  scale->add_option("--memory", options.memory_gib, "GiB of all processes (default: four fifths of the machine's)");
  scale->add_option("--policies", options.policies, "These alone: default, fair, fixed, aimd")->delimiter(',');
  scale->add_option("--producers", options.producers, "So many, instead of all numbers")->delimiter(',');
  scale->add_option("--store", options.profile, "This alone: s3, s3-express, gcs, local");
  scale->add_option("--intervals", options.intervals_s, "Of `fixed`, in seconds")->delimiter(',');
  scale->add_option("--steps", options.steps, "Live steps that the stream begins with")->delimiter(',');
  scale->add_option("--window", options.window_s, "Simulated seconds that count");
  scale->add_option("--seed", options.seed, "Of chance in every run")->capture_default_str();
  scale->add_option("--rate", options.rate, "Batches a second of each producer, on average")->capture_default_str();
  scale->add_option("--rate-spread", options.rate_spread, "Spread of log-normal rates among producers");
  scale
      ->add_option("--trouble", options.troubles,
                   "These alone: none, lognormal, bursts, restarts, throttled, outage, misfits, hurried, openings")
      ->delimiter(',')
      ->check(CLI::Validator(
          [](const std::string& name) { return FindTrouble(name) ? "" : "no such trouble: " + name; }, "TROUBLE"));
  return scale;
}

int Main(int argc, char** argv) {
  CLI::App app{
      "BatchWeave's protocol under a deterministic simulator: production code over a simulated store and clock"};
  Options options;
  app.add_option("--seed", options.seed, "Run this one seed, and tell its story where it breaks something");
  app.add_flag("--trace", options.trace, "With --seed: print everything that happens");
  app.add_option("--seeds", options.seeds, "Run so many seeds");
  app.add_option("--from", options.from, "The first seed")->capture_default_str();
  app.add_flag("--fresh", options.fresh, "Draw the first seed, and print it");
  app.add_option("--until", options.until, "End at the first breach of this invariant (I5), and tell it alone");
  app.add_option("--jobs", options.jobs, "Processes")->capture_default_str();
  app.add_flag("--json", options.json, "The last line is one JSON object");
  app.add_flag("--mutations", options.mutations, "Run the mutants: each breach of the protocol must be caught");
  app.add_option("--seeds-max", options.seeds_max, "With --mutations: seeds for each")->capture_default_str();
  app.add_option("--mutant", options.mutant, "With --mutations: the mutants' bw_sim (default: ../mutant/bw_sim)");
  app.add_option("--only", options.only, "With --mutations: these alone");
  app.add_option("--mutation", options.mutation, "Of the mutants' build: the one breach to make");
  options.scale.jobs = options.jobs;
  const CLI::App* scale = AddScale(app, options.scale);
  CLI11_PARSE(app, argc, argv);
  if (scale->parsed()) return RunScale(options.scale);
  if (!options.mutation.empty()) {
    const std::optional<Mutation> mutation = FindMutation(options.mutation);
    if (!mutation || !SetMutation(*mutation)) {
      fmt::print(stderr, "{}: {}\n", options.mutation,
                 mutation ? "this build has no mutants: use build/mutant/bw_sim" : "no such mutation");
      return 2;
    }
  }
  if (options.mutations) return RunAllMutations(options, std::filesystem::read_symlink("/proc/self/exe").string());
  if (options.seed) return RunOneSeed(options);
  if (options.seeds > 0) return RunManySeeds(options);
  fmt::print("{}", app.help());
  return 2;
}

}  // namespace
}  // namespace batchweave::sim

int main(int argc, char** argv) { return batchweave::sim::Main(argc, argv); }
