#include "batchweave/lifecycle/reclaim.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "batchweave/lifecycle/trim.h"
#include "batchweave/log/history.h"
#include "batchweave/log/progress.h"
#include "cli/commands.h"
#include "cli/progress_bar.h"
#include "cli/target.h"
#include "cli/text.h"

namespace batchweave::cli {
namespace {

struct Outcome {
  bool dry_run = false;
  uint64_t trimmed_steps = 0;  // Of a dry run: what a trim would take, whose objects are not in the report then.
  uint64_t trimmed_bytes = 0;
  ReclaimReport report{};
};

void PrintJson(Console& console, const std::string& name, const Outcome& outcome) {
  const ReclaimReport& report = outcome.report;
  console.PrintJson({{"name", name},
                     {"dry_run", outcome.dry_run},
                     {"trimmed_steps", outcome.trimmed_steps},
                     {"trimmed_bytes", outcome.trimmed_bytes},
                     {"objects", report.objects},
                     {"bytes", report.bytes},
                     {"versions_retired", report.tombstones},
                     {"uploads_aborted", report.uploads},
                     {"not_understood", report.not_understood},
                     {"not_understood_examples", report.examples}});
}

void PrintText(Console& console, const Outcome& outcome) {
  const ReclaimReport& report = outcome.report;
  const std::string steps = Counted(outcome.trimmed_steps, "step");
  if (outcome.dry_run) {
    console.Print(fmt::format("would trim {} with {}\n", steps, HumanSize(outcome.trimmed_bytes)));
    console.Print(fmt::format("would remove besides {}, {}, and retire {}\n", Counted(report.objects, "object"),
                              HumanSize(report.bytes), Counted(report.tombstones, "version")));
  } else {
    console.Print(fmt::format("trimmed {}\n", steps));
    console.Print(fmt::format("removed {}, {}; retired {}\n", Counted(report.objects, "object"),
                              HumanSize(report.bytes), Counted(report.tombstones, "version")));
  }
  if (report.uploads > 0) {
    console.Print(fmt::format("{} {} that {} never completed\n", outcome.dry_run ? "would abort" : "aborted",
                              Counted(report.uploads, "upload"), report.uploads == 1 ? "was" : "were"));
  }
  if (report.not_understood == 0) return;
  console.Print(fmt::format("not understood, left alone: {}\n", Counted(report.not_understood, "key")));
  for (const std::string& key : report.examples) console.Print(fmt::format("  {}\n", key));
  if (report.not_understood > report.examples.size()) {
    console.Print(fmt::format("  and {} more\n", Grouped(report.not_understood - report.examples.size())));
  }
}

// Commits a trim, unless `dry_run`. Returns up to where it goes.
Result<Step> TrimFirst(ManifestLog& log, const Manifest& before, bool dry_run) {
  if (dry_run) return std::max(before.first_step, Watermark(before).value_or(before.first_step));
  return BW_TRY(Trim(log, CommitDeadline(log.env()))).manifest.first_step;
}

Result<void> RunReclaim(Console& console, const std::string& url, bool dry_run) {
  Target target = BW_TRY(OpenTarget(url));
  ManifestLog& log = target.stream.log();
  const Manifest before = BW_TRY(log.ReadNewest()).manifest;
  const Step first = BW_TRY(TrimFirst(log, before, dry_run));
  Outcome outcome{.dry_run = dry_run,
                  .trimmed_steps = first.value - before.first_step.value,
                  .trimmed_bytes = DataBytes(before, before.first_step, std::min(first, before.next_step))};
  {
    ProgressBar bar(console, target.env->env().clock);
    const auto on_progress = [&](const ReclaimReport& report) {
      bar.Update("objects and versions", report.objects + report.tombstones, 0, Unit::kThings);
    };
    outcome.report = BW_TRY(Reclaim(log, {.dry_run = dry_run, .progress = on_progress}));
  }
  if (console.json()) {
    PrintJson(console, target.stream.name(), outcome);
  } else {
    PrintText(console, outcome);
  }
  return UnlessUploadsFailed(outcome.report.uploads_error);
}

}  // namespace

void AddReclaim(CommandLine& line) {
  const auto dry_run = std::make_shared<bool>(false);
  line.Add({.name = "reclaim",
            .description = "trim what no group holds, then remove what nothing will ever reach; safe at any time",
            .examples = "  batchweave reclaim --dry-run file:///data/runs/llm-7b\n"
                        "  batchweave reclaim file:///data/runs/llm-7b --json | jq .bytes"},
           UrlOf::kStream,
           [dry_run](Console& console, const std::string& url) { return RunReclaim(console, url, *dry_run); })
      .Flag("--dry-run", *dry_run, "only say what would go");
}

}  // namespace batchweave::cli
