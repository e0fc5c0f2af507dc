#include "batchweave/lifecycle/checkpoint.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/target.h"
#include "cli/text.h"

namespace batchweave::cli {
namespace {

struct Options {
  std::string group;
  std::string name;
  uint64_t step = 0;
  uint64_t keep_last = kKeepLastDefault;
  bool pin = false;
};

Result<void> Register(Console& console, const std::string& url, const Options& options) {
  Target target = BW_TRY(OpenTarget(url));
  ManifestLog& log = target.stream.log();
  const CheckpointRequest request{.holder = BW_TRY(CurrentSession(log, options.group)),
                                  .name = options.name,
                                  .position = Step{options.step},
                                  .keep_last = options.keep_last,
                                  .pin = options.pin};
  const Manifest made = BW_TRY(RegisterCheckpoint(log, request, CommitDeadline(target.stream.env()))).manifest;
  if (console.json()) {
    console.PrintJson({{"name", target.stream.name()},
                       {"group", options.group},
                       {"checkpoint", options.name},
                       {"position", options.step},
                       {"pinned", options.pin},
                       {"version", made.version.value},
                       {"first_step", made.first_step.value}});
    return {};
  }
  console.Print(fmt::format("checkpoint {} of {}: {}holds step {} and all that follow; the stream begins at step {}\n",
                            options.name, options.group, options.pin ? "pinned, " : "", options.step,
                            made.first_step.value));
  return {};
}

Result<void> Release(Console& console, const std::string& url, const Options& options) {
  Target target = BW_TRY(OpenTarget(url));
  ManifestLog& log = target.stream.log();
  const GroupSession holder = BW_TRY(CurrentSession(log, options.group));
  const TimePoint deadline = CommitDeadline(target.stream.env());
  const Manifest made = BW_TRY(ReleaseCheckpoint(log, holder, options.name, deadline)).manifest;
  if (console.json()) {
    console.PrintJson({{"name", target.stream.name()},
                       {"group", options.group},
                       {"checkpoint", options.name},
                       {"released", true},
                       {"version", made.version.value}});
    return {};
  }
  console.Print(fmt::format("checkpoint {} of {} is released: what nobody else holds goes with the next reclaim\n",
                            options.name, options.group));
  return {};
}

}  // namespace

void AddCheckpoint(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.Add({.name = "checkpoint",
            .description = "register a position to which the job of a group can return; trims what nobody holds",
            .examples = "  batchweave checkpoint file:///data/runs/llm-7b train before-annealing 120000 --pin\n"
                        "  batchweave checkpoint ./runs/llm-7b train step-2000 2000 --keep-last 3"},
           UrlOf::kStream,
           [options](Console& console, const std::string& url) { return Register(console, url, *options); })
      .Argument("GROUP", options->group, "the group; acts under its current session")
      .Argument("NAME", options->name, "of the checkpoint; one that is there already moves, and is the newest")
      .Argument("STEP", options->step, "the next step that a job restored from it reads")
      .Flag("--pin", options->pin, "kept until it is released, and not counted by --keep-last")
      .Number("--keep-last", options->keep_last, "so many of the group's newest stay, of those not pinned");
}

void AddRelease(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.Add({.name = "release",
            .description = "let go of a checkpoint, pinned or not; the last one of a group goes only with the group",
            .examples = "  batchweave release file:///data/runs/llm-7b train before-annealing"},
           UrlOf::kStream,
           [options](Console& console, const std::string& url) { return Release(console, url, *options); })
      .Argument("GROUP", options->group, "the group; acts under its current session")
      .Argument("NAME", options->name, "of the checkpoint");
}

}  // namespace batchweave::cli
