#include "batchweave/lifecycle/upgrade.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/target.h"

namespace batchweave::cli {
namespace {

Result<void> Upgrade(Console& console, const std::string& url) {
  Target target = BW_TRY(OpenTarget(url));
  ManifestLog& log = target.stream.log();
  const Features missing = MissingFeatures(BW_TRY(log.ReadNewest()).manifest, kKnownFeatures);
  const Manifest after = BW_TRY(UpgradeStream(log, kKnownFeatures, CommitDeadline(target.stream.env()))).manifest;
  if (console.json()) {
    console.PrintJson({{"name", target.stream.name()},
                       {"upgraded", !missing.none()},
                       {"reader_features", after.reader_features},
                       {"writer_features", after.writer_features},
                       {"version", after.version.value}});
    return {};
  }
  console.Print(
      missing.none()
          ? fmt::format("{} has every feature that this software knows: nothing to upgrade\n", target.stream.name())
          : fmt::format("{} is upgraded: software that does not know these features must not commit\n",
                        target.stream.name()));
  return {};
}

}  // namespace

void AddUpgrade(CommandLine& line) {
  line.Add({.name = "upgrade",
            .description = "let a stream use every feature of this software, once no older one writes or reads it",
            .examples = "  batchweave upgrade file:///data/runs/llm-7b"},
           UrlOf::kStream, Upgrade);
}

}  // namespace batchweave::cli
