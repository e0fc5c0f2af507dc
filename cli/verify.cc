#include "batchweave/stream/verify.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/progress_bar.h"
#include "cli/target.h"
#include "cli/text.h"

namespace batchweave::cli {
namespace {

Json FindingJson(const Finding& finding) {
  return {{"kind", finding.kind == Finding::Kind::kBroken ? "broken" : "notice"},
          {"invariant", finding.invariant.empty() ? Json() : Json(finding.invariant)},
          {"step", finding.step ? Json(finding.step->value) : Json()},
          {"key", finding.key.empty() ? Json() : Json(finding.key)},
          {"message", finding.message}};
}

void PrintJson(Console& console, const std::string& name, const VerifyReport& report) {
  Json findings = Json::array();
  for (const Finding& finding : report.findings) findings.push_back(FindingJson(finding));
  console.PrintJson({{"name", name},
                     {"ok", report.ok()},
                     {"deep", report.deep},
                     {"version", report.newest.value},
                     {"first_step", report.first_step.value},
                     {"next_step", report.next_step.value},
                     {"sealed", report.sealed},
                     {"versions", report.versions},
                     {"tombstones", report.tombstones},
                     {"entries", report.entries},
                     {"producers", report.producers},
                     {"data_objects", report.data_objects},
                     {"data_bytes", report.data_bytes},
                     {"slices_read", report.slices_read},
                     {"bytes_read", report.bytes_read},
                     {"unnamed_objects", report.unnamed_objects},
                     {"unnamed_bytes", report.unnamed_bytes},
                     {"broken", report.broken},
                     {"findings", findings},
                     {"findings_left_out", report.findings_left_out}});
}

void PrintFindings(Console& console, const VerifyReport& report) {
  if (!report.findings.empty()) console.Print("\n");
  for (const Finding& finding : report.findings) {
    const std::string label = finding.kind == Finding::Kind::kBroken ? finding.invariant : "note";
    console.Print(fmt::format("  {:<6}{}\n", label, finding.message));
    if (!finding.key.empty()) console.Print(fmt::format("  {:6}{}\n", "", finding.key));
  }
  if (report.findings_left_out > 0) console.Print(fmt::format("  and {} more\n", Grouped(report.findings_left_out)));
}

void PrintText(Console& console, const std::string& name, const VerifyReport& report) {
  const auto line = [&](std::string_view label, std::string_view value) {
    console.Print(fmt::format("  {:<10}{}\n", label, value));
  };
  const uint64_t steps = report.next_step.value - report.first_step.value;
  console.Print(fmt::format("{}, {}\n", name, report.deep ? "all data read" : "data not read (--deep reads it)"));
  line("versions", fmt::format("{} of {}{}", Grouped(report.versions), Grouped(report.newest.value),
                               report.tombstones == 0 ? "" : fmt::format(", {} retired", Grouped(report.tombstones))));
  line("steps", steps == 0 ? "none"
                           : fmt::format("{} to {}{}", report.first_step.value, report.next_step.value - 1,
                                         report.sealed ? ", sealed" : ""));
  line("producers", Grouped(report.producers));
  line("objects", fmt::format("{}, {}", Grouped(report.data_objects), HumanSize(report.data_bytes)));
  if (report.deep) line("slices", fmt::format("{} compared with their trailers", Grouped(report.slices_read)));
  if (report.unnamed_objects > 0) {
    line("unnamed", fmt::format("{}, {}: not committed yet, or left behind", Counted(report.unnamed_objects, "object"),
                                HumanSize(report.unnamed_bytes)));
  }
  PrintFindings(console, report);
  console.Print(report.ok() ? "\nno invariant is broken\n" : "");
}

Result<void> Verify(Console& console, const std::string& url, bool deep) {
  Target target = BW_TRY(OpenTarget(url));
  VerifyReport report;
  {
    ProgressBar bar(console, target.env->env().clock);
    const auto on_progress = [&](const VerifyProgress& progress) {
      bar.Update(progress.phase, progress.done, progress.total,
                 progress.phase == "data" ? Unit::kBytes : Unit::kThings);
    };
    report = BW_TRY(VerifyStream(target.stream, {.deep = deep, .on_progress = on_progress}));
  }
  if (console.json()) {
    PrintJson(console, target.stream.name(), report);
  } else {
    PrintText(console, target.stream.name(), report);
  }
  if (report.ok()) return {};
  return Error{ErrorCode::kCorrupt, fmt::format("the stream breaks its invariants: name={} findings={}",
                                                target.stream.name(), report.broken)};
}

}  // namespace

void AddVerify(CommandLine& line) {
  const auto deep = std::make_shared<bool>(false);
  line.Add({.name = "verify",
            .description = "check every invariant that can be checked from outside; each finding cites its number",
            .examples = "  batchweave verify file:///data/runs/llm-7b\n"
                        "  batchweave verify --deep file:///data/runs/llm-7b --json | jq .ok"},
           UrlOf::kStream, [deep](Console& console, const std::string& url) { return Verify(console, url, *deep); })
      .Flag("--deep", *deep, "read all data: each slice against its trailer, digests, every version whole");
}

}  // namespace batchweave::cli
