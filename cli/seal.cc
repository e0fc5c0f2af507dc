#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/target.h"
#include "cli/text.h"

namespace batchweave::cli {
namespace {

Result<void> Seal(Console& console, const std::string& url) {
  Target target = BW_TRY(OpenTarget(url));
  const Step end = BW_TRY(target.stream.Seal());
  if (console.json()) {
    console.PrintJson({{"name", target.stream.name()}, {"sealed", true}, {"next_step", end.value}});
    return {};
  }
  console.Print(
      fmt::format("{} is sealed: every rank ends after {}\n", target.stream.name(), Counted(end.value, "step")));
  return {};
}

}  // namespace

void AddSeal(CommandLine& line) {
  line.Add({.name = "seal",
            .description = "end a stream for ever: nothing more is published, and every rank ends at the same step",
            .examples = "  batchweave seal file:///data/runs/llm-7b"},
           UrlOf::kStream, Seal);
}

}  // namespace batchweave::cli
