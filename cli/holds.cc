#include "cli/holds.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "batchweave/lifecycle/explain.h"
#include "batchweave/log/progress.h"
#include "cli/text.h"

namespace batchweave::cli {
namespace {

Json HoldJson(const Hold& hold) {
  return {{"checkpoint", hold.checkpoint ? Json(*hold.checkpoint) : Json()},
          {"position", hold.position.value},
          {"pinned", hold.pinned},
          {"steps", hold.steps},
          {"bytes", hold.bytes},
          {"steps_alone", hold.steps_alone},
          {"bytes_alone", hold.bytes_alone}};
}

std::string HoldName(const Hold& hold) {
  if (!hold.checkpoint) return "(start of its session)";
  return hold.pinned ? *hold.checkpoint + " (pinned)" : *hold.checkpoint;
}

// What the next trim takes, and what the one after it waits for.
std::string TrimText(const Manifest& manifest, const std::vector<Hold>& holds) {
  const Hold& first = holds.front();
  std::string text;
  if (first.position > manifest.first_step) {
    text = fmt::format("  held by nobody, gone with the next reclaim: {}, {}\n",
                       Counted(first.position.value - manifest.first_step.value, "step"),
                       HumanSize(DataBytes(manifest, manifest.first_step, first.position)));
  }
  if (first.steps_alone > 0) {
    text += fmt::format("  only {} of {} keeps: {}, {}\n", HoldName(first), first.group,
                        Counted(first.steps_alone, "step"), HumanSize(first.bytes_alone));
  }
  return text;
}

}  // namespace

Json GroupsJson(ManifestLog& log, const Manifest& manifest) {
  const std::vector<Hold> holds = ExplainHolds(manifest);
  Json groups = Json::array();
  for (const GroupRow& group : manifest.groups) {
    const std::optional<Step> reached = ReadProgress(log, manifest, group.name);
    Json group_holds = Json::array();
    for (const Hold& hold : holds) {
      if (hold.group == group.name) group_holds.push_back(HoldJson(hold));
    }
    groups.push_back({{"group", group.name},
                      {"session", group.session.value},
                      {"smallest_held", group.smallest_held.value},
                      {"reached", reached ? Json(reached->value) : Json()},
                      {"holds", std::move(group_holds)}});
  }
  return groups;
}

std::string GroupsText(ManifestLog& log, const Manifest& manifest) {
  if (manifest.groups.empty()) return "  no groups: nothing is trimmed\n";
  const std::vector<Hold> holds = ExplainHolds(manifest);
  Table table({"GROUP", ">READ TO", "HELD BY", ">FROM STEP", ">STEPS", ">BYTES"});
  for (const GroupRow& group : manifest.groups) {
    const std::optional<Step> reached = ReadProgress(log, manifest, group.name);
    std::string name = group.name;
    std::string read_to = reached ? fmt::format("{}", reached->value) : "unknown";
    for (const Hold& hold : holds) {
      if (hold.group != group.name) continue;
      table.AddRow({name, read_to, HoldName(hold), fmt::format("{}", hold.position.value), Grouped(hold.steps),
                    HumanSize(hold.bytes)});
      name.clear();
      read_to.clear();
    }
  }
  return table.Format("  ") + TrimText(manifest, holds);
}

}  // namespace batchweave::cli
