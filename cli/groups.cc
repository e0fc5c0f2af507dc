#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "batchweave/lifecycle/group.h"
#include "cli/commands.h"
#include "cli/holds.h"
#include "cli/target.h"
#include "cli/text.h"

namespace batchweave::cli {
namespace {

struct Options {
  std::string action;
  std::string group;
  std::optional<uint64_t> at;
};

Result<void> List(Console& console, Stream& stream) {
  const Manifest manifest = BW_TRY(stream.log().ReadNewest()).manifest;
  if (console.json()) {
    console.PrintJson({{"name", stream.name()},
                       {"first_step", manifest.first_step.value},
                       {"next_step", manifest.next_step.value},
                       {"groups", GroupsJson(stream.log(), manifest)}});
    return {};
  }
  console.Print(fmt::format("{}, first step {}, next step {}\n", stream.name(), manifest.first_step.value,
                            manifest.next_step.value));
  console.Print(GroupsText(stream.log(), manifest));
  return {};
}

Result<void> Create(Console& console, Stream& stream, const Options& options) {
  if (!options.at) {
    return Error{ErrorCode::kInvalidArgument, "a group is created at a step, which it holds from then on: --at STEP"};
  }
  const Step at{*options.at};
  const TimePoint deadline = CommitDeadline(stream.env());
  const LoggedManifest made = BW_TRY(CreateGroup(stream.log(), options.group, at, deadline));
  if (console.json()) {
    console.PrintJson({{"name", stream.name()},
                       {"group", options.group},
                       {"created", true},
                       {"start", at.value},
                       {"version", made.manifest.version.value}});
    return {};
  }
  console.Print(fmt::format("group {} holds step {} and all that follow\n", options.group, at.value));
  return {};
}

Result<void> Drop(Console& console, Stream& stream, const std::string& group) {
  const GroupSession holder = BW_TRY(CurrentSession(stream.log(), group));
  const LoggedManifest dropped = BW_TRY(DropGroup(stream.log(), holder, CommitDeadline(stream.env())));
  if (console.json()) {
    console.PrintJson(
        {{"name", stream.name()}, {"group", group}, {"dropped", true}, {"version", dropped.manifest.version.value}});
    return {};
  }
  console.Print(
      fmt::format("group {} and its checkpoints are dropped: what nobody else holds goes with the next "
                  "reclaim\n",
                  group));
  return {};
}

Result<void> Groups(Console& console, const std::string& url, const Options& options) {
  const bool is_list = options.action.empty();
  if (!is_list && options.action != "create" && options.action != "drop") {
    return Error{ErrorCode::kInvalidArgument, fmt::format("create or drop a group, not: {}", options.action)};
  }
  if (!is_list && options.group.empty()) {
    return Error{ErrorCode::kInvalidArgument, fmt::format("which group? {} NAME", options.action)};
  }
  if (options.at && options.action != "create") {
    return Error{ErrorCode::kInvalidArgument, "--at goes with create"};
  }
  Target target = BW_TRY(OpenTarget(url));
  if (is_list) return List(console, target.stream);
  if (options.action == "create") return Create(console, target.stream, options);
  return Drop(console, target.stream, options.group);
}

}  // namespace

void AddGroups(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.Add({.name = "groups",
            .description = "which checkpoint of which group keeps how much data; create and drop groups",
            .examples = "  batchweave groups file:///data/runs/llm-7b\n"
                        "  batchweave groups file:///data/runs/llm-7b create train --at 0\n"
                        "  batchweave groups file:///data/runs/llm-7b drop train\n"
                        "  batchweave groups ./runs/llm-7b --json | jq '.groups[].holds'"},
           UrlOf::kStream,
           [options](Console& console, const std::string& url) { return Groups(console, url, *options); })
      .OptionalArgument("ACTION", options->action, "create or drop; without it the groups are listed")
      .OptionalArgument("NAME", options->group, "of the group to create or drop, for good")
      .Number("--at", options->at, "create: the first step that the group holds");
}

}  // namespace batchweave::cli
