// demo_run DIR: the whole demo. Producers and ranks as processes that are killed and come back, a reference that nothing
// disturbs, and at the end an audit, sample by sample. The last line of its output is one JSON object.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include "batchweave/lifecycle/reclaim.h"
#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "examples/demo/data/tokenizer_training.h"
#include "examples/demo/process/part_workers.h"
#include "examples/demo/run/commands.h"
#include "examples/demo/run/display.h"
#include "examples/demo/run/job.h"
#include "examples/demo/run/summary.h"
#include "examples/demo/run/verdict.h"
#include "examples/demo/run/workspace.h"

namespace batchweave::demo {
namespace {

struct Arguments {
  JobOptions job;
  uint64_t seconds = 60;
  uint64_t restart_after_ms = 2500;
  std::string batchweave;
};

struct Sources {
  Corpus corpus;
  Tokenizer tokenizer;
};

Result<Sources> OpenSources(const JobOptions& job, Display& display) {
  Corpus corpus = BW_TRY(Corpus::Open(job.corpus));
  const std::string model = TokenizerPath(job.corpus.directory, corpus);
  if (!std::filesystem::exists(model)) display.Say("training the tokenizer, once: takes some 10 s");
  Tokenizer tokenizer = BW_TRY(LoadOrTrainTokenizer(corpus, model));
  return Sources{.corpus = std::move(corpus), .tokenizer = std::move(tokenizer)};
}

// Of the producers together, so that they publish about `steps` in the time asked for.
uint64_t StepMsOf(uint64_t steps, const Arguments& arguments) {
  return arguments.seconds * 1000 / std::max<uint64_t>(steps, 1);
}

Result<void> WaitForReference(Child& reference, const Child::Command& command, Display& display, Clock& clock) {
  bool said = false;
  for (;;) {
    const std::optional<int> status = reference.Ended();
    reference.TakeLines();  // Or it would wait for us to do so.
    if (status == 0) return {};
    if (status.has_value()) {
      return Error{ErrorCode::kUnavailable,
                   fmt::format("the reference failed with status {}; the last line of {} is: {}", *status,
                               command.log_path, LastLineOf(command.log_path))};
    }
    if (!said) display.Say("waiting for the undisturbed process to compare with");
    said = true;
    clock.SleepUntil(After(clock.Now(), std::chrono::milliseconds(50)));
  }
}

Result<bool> Verify(const Commands& commands, Display& display, Clock& clock) {
  const Child::Command command = commands.Verify();
  const Finished finished = BW_TRY(RunToEnd(command, clock));
  display.Say(fmt::format("{}  (exit code {})", commands.ForPeople("verify --deep"), finished.status));
  for (const std::string& line : finished.lines) {
    if (!line.empty()) display.Print("         " + line);
  }
  if (finished.status != 0) display.Print("         " + LastLineOf(command.log_path));
  return finished.status == 0;
}

std::vector<std::string> RecordsOf(const ReadingPlan& plan, const Commands& commands) {
  std::vector<std::string> paths;
  for (const Mesh& mesh : plan.meshes) {
    for (const MeshRank& rank : RanksOf(mesh)) paths.push_back(commands.RecordOf(plan.group, rank));
  }
  return paths;
}

// Nobody writes any more: what is still there that no version reaches has leaked.
Result<StoredBytes> ReclaimQuietly(Stream& stream, JobOutcome& outcome, Display& display) {
  const ReclaimReport report = BW_TRY(Reclaim(stream.log()));
  outcome.reclaimed_objects += report.objects;
  outcome.reclaimed_bytes += report.bytes;
  StoredBytes stored = BW_TRY(CountStored(stream.log()));
  display.Say(
      fmt::format("a last reclaim, now that all is quiet: {} more; {} are left, and {} bytes that nothing reaches",
                  HumanSize(report.bytes), HumanSize(stored.reached), stored.leaked));
  return stored;
}

// Whether all is as it should be.
Result<bool> Run(const Arguments& arguments) {
  SystemClock clock;
  Display display(clock);
  const JobOptions& job = arguments.job;
  const Commands commands(job, ProgramsFolder(), arguments.batchweave);
  if (!std::filesystem::exists(arguments.batchweave)) {
    return Error{ErrorCode::kNotFound, fmt::format("no command line tool: make build first: {}", arguments.batchweave)};
  }
  const Workspace workspace = BW_TRY(Workspace::Prepare(job));
  const Sources sources = BW_TRY(OpenSources(job, display));
  const Plan plan = PlanFor(BW_TRY(EstimateSteps(sources.corpus, sources.tokenizer, job.packing)), job.packing.parts);
  display.Say(fmt::format("{} samples: pictures with captions, a dictionary, a manual; about {} steps of {} slices",
                          sources.corpus.samples().size(), plan.steps, job.packing.grid.slices()));

  const auto env = BW_TRY(OpenEnv(job.store()));
  Stream stream = BW_TRY(Stream::Create(env->env(), kStreamName));
  display.Say(fmt::format("stream {} is created", commands.StreamUrl()));
  const Child::Command reference_command = commands.Reference();
  Child reference = BW_TRY(Child::Start(reference_command));
  Job live(stream, commands, display,
           {.plan = plan,
            .producers = job.packing.parts,
            .step_ms = StepMsOf(plan.steps, arguments),
            .restart_after = std::chrono::milliseconds(arguments.restart_after_ms),
            .samples = sources.corpus.samples().size()});
  JobOutcome outcome = BW_TRY(live.Run());
  const StoredBytes stored = BW_TRY(ReclaimQuietly(stream, outcome, display));

  BW_TRY(WaitForReference(reference, reference_command, display, clock));
  const Verdict verdict = BW_TRY(Judge(sources.corpus, {.train = RecordsOf(plan.train, commands),
                                                        .eval = RecordsOf(plan.eval, commands),
                                                        .reference = commands.RecordOfReference()}));
  const bool verified = BW_TRY(Verify(commands, display, clock));
  return Summarize({.outcome = outcome, .verdict = verdict, .stored = stored, .verified = verified}, commands, display);
}

}  // namespace
}  // namespace batchweave::demo

int main(int argc, char** argv) {
  batchweave::demo::Arguments arguments;
  CLI::App app("Runs the demo: producers and ranks that are killed and come back, and an audit at the end.");
  batchweave::demo::AddJobOptions(app, arguments.job);
  app.add_option("--seconds", arguments.seconds, "how long the producers take, at least")->capture_default_str();
  app.add_option("--restart-after-ms", arguments.restart_after_ms, "how long a killed process stays away")
      ->capture_default_str();
  app.add_option("--batchweave", arguments.batchweave, "path of the command line tool")->required();
  CLI11_PARSE(app, argc, argv);
  const batchweave::Result<bool> good = batchweave::demo::Run(arguments);
  if (!good.ok()) fmt::print(stderr, "demo_run: {}\n", batchweave::ToString(good.error()));
  return good.ok() && *good ? 0 : 1;
}
