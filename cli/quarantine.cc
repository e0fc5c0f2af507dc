#include "batchweave/lifecycle/quarantine.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.h"
#include "cli/target.h"
#include "cli/text.h"

namespace batchweave::cli {
namespace {

struct Options {
  std::optional<uint64_t> first;
  std::optional<uint64_t> end;
  std::string reason;
  bool lift = false;
};

Result<void> List(Console& console, Stream& stream) {
  const Manifest manifest = BW_TRY(stream.log().ReadNewest()).manifest;
  Json list = Json::array();
  Table table({">FIRST", ">END", ">SET AT", "IN FORCE", "REASON"});
  for (const Quarantine& quarantine : manifest.quarantines) {
    const bool in_force = quarantine.lifted_at == Version{};
    list.push_back({{"first", quarantine.first.value},
                    {"end", quarantine.end.value},
                    {"reason", quarantine.reason},
                    {"set_at", quarantine.set_at.value},
                    {"lifted_at", in_force ? Json() : Json(quarantine.lifted_at.value)}});
    table.AddRow({fmt::format("{}", quarantine.first.value), fmt::format("{}", quarantine.end.value),
                  fmt::format("{}", quarantine.set_at.value),
                  in_force ? "yes" : fmt::format("lifted at {}", quarantine.lifted_at.value),
                  TextOrHex(AsBytes(quarantine.reason))});
  }
  if (console.json()) {
    console.PrintJson({{"name", stream.name()}, {"quarantines", std::move(list)}});
  } else if (manifest.quarantines.empty()) {
    console.Note("no steps are quarantined");
  } else {
    console.Print(table.Format(""));
  }
  return {};
}

Result<void> Change(Console& console, Stream& stream, StepRange range, const Options& options) {
  ManifestLog& log = stream.log();
  const TimePoint deadline = CommitDeadline(stream.env());
  const LoggedManifest made = options.lift ? BW_TRY(LiftQuarantine(log, range, deadline))
                                           : BW_TRY(SetQuarantine(log, range, options.reason, deadline));
  if (console.json()) {
    console.PrintJson({{"name", stream.name()},
                       {"first", range.first.value},
                       {"end", range.end.value},
                       {"in_force", !options.lift},
                       {"version", made.manifest.version.value}});
    return {};
  }
  console.Print(fmt::format("steps {} to {}: sessions opened from now on {} them; those before do as they did\n",
                            range.first.value, range.end.value - 1, options.lift ? "read" : "skip"));
  return {};
}

Result<void> RunQuarantine(Console& console, const std::string& url, const Options& options) {
  const bool is_list = !options.first && !options.lift && options.reason.empty();
  if (!is_list && !options.end) {
    return Error{ErrorCode::kInvalidArgument, "which steps? FIRST END: from FIRST up to, but not, END"};
  }
  if (options.lift && !options.reason.empty()) {
    return Error{ErrorCode::kInvalidArgument, "--lift needs no --reason"};
  }
  if (!is_list && !options.lift && options.reason.empty()) {
    return Error{ErrorCode::kInvalidArgument, "a quarantine needs a --reason (or --lift ends one)"};
  }
  Target target = BW_TRY(OpenTarget(url));
  if (is_list) return List(console, target.stream);
  return Change(console, target.stream, {.first = Step{*options.first}, .end = Step{*options.end}}, options);
}

}  // namespace

void AddQuarantine(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.Add({.name = "quarantine",
            .description = "steps that training skips, with the reason: list, set, lift; for sessions opened later",
            .examples = "  batchweave quarantine file:///data/runs/llm-7b\n"
                        "  batchweave quarantine file:///data/runs/llm-7b 5000 5100 --reason 'loss spike: bad shard'\n"
                        "  batchweave quarantine file:///data/runs/llm-7b 5000 5100 --lift"},
           UrlOf::kStream,
           [options](Console& console, const std::string& url) { return RunQuarantine(console, url, *options); })
      .OptionalArgument("FIRST", options->first, "the first step; without it what is quarantined is listed")
      .OptionalArgument("END", options->end, "one past the last step")
      .Text("--reason", options->reason, "why, for people: up to 255 bytes")
      .Flag("--lift", options->lift, "end the quarantine of just these steps");
}

}  // namespace batchweave::cli
