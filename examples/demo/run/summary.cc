#include "examples/demo/run/summary.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "batchweave/base/bytes.h"

namespace batchweave::demo {
namespace {

// What is wrong, in words; empty where nothing is.
std::string Complaint(const Results& results) {
  const Verdict& verdict = results.verdict;
  if (!verdict.train_audit.clean()) return "samples are missing or doubled at the trainer";
  if (!verdict.eval_audit.clean()) return "samples are missing or doubled at the evaluator";
  if (!verdict.statistic_identical()) return "a statistic differs from that of the undisturbed process";
  if (results.outcome.steps != verdict.reference.position) {
    return fmt::format("the stream has {} steps, and should have {}", results.outcome.steps,
                       verdict.reference.position);
  }
  if (results.stored.leaked > 0) return fmt::format("{} bytes leaked", results.stored.leaked);
  return results.verified ? "" : "verify --deep found the stream broken";
}

void PrintFigures(const Results& results, Display& display) {
  const auto line = [&](std::string_view label, const std::string& text) {
    display.Print(fmt::format("  {:<11} {}", label, text));
  };
  const Verdict& verdict = results.verdict;
  const JobOutcome& outcome = results.outcome;
  const auto audited = [&](std::string_view label, const AuditReport& audit) {
    line(label, fmt::format("{} of {} samples delivered exactly once; {} missing, {} doubled, {} unknown",
                            audit.delivered, audit.samples, audit.missing, audit.duplicates, audit.unknown));
    for (const std::string& finding : audit.findings) line("", finding);
  };
  audited("trainer", verdict.train_audit);
  audited("evaluator", verdict.eval_audit);
  const Statistic& statistic = verdict.train.statistic;
  line("statistic", fmt::format("trainer {:016x}, evaluator {:016x}, undisturbed {:016x}{}", statistic.Digest(),
                                verdict.eval.statistic.Digest(), verdict.reference.statistic.Digest(),
                                verdict.statistic_identical() ? "" : ": NOT THE SAME"));
  line("", fmt::format("{} text tokens, {} patches; red {:.1f} green {:.1f} blue {:.1f} on average",
                       statistic.text_tokens(), statistic.patches(), MeanOf(statistic.channels()[0]),
                       MeanOf(statistic.channels()[1]), MeanOf(statistic.channels()[2])));
  line("stream", fmt::format("{} steps, {} of them made in parts; {} versions; {} read in {} requests", outcome.steps,
                             outcome.steps_in_parts, outcome.versions, HumanSize(outcome.bytes), outcome.requests));
  line("killed", fmt::format("{} processes with kill -9, all of them back", outcome.restarts));
  line("storage", fmt::format("{} checkpoints; {} objects, {} reclaimed; {} held from step {} on; {} bytes leaked",
                              outcome.checkpoints, outcome.reclaimed_objects, HumanSize(outcome.reclaimed_bytes),
                              HumanSize(results.stored.reached), outcome.first_step, results.stored.leaked));
}

void PrintWhereToLook(uint64_t step, const Commands& commands, Display& display) {
  const auto command = [&](std::string_view subcommand, std::string_view what) {
    display.Print(fmt::format("  {:<70} {}", commands.ForPeople(subcommand), what));
  };
  display.Print("");
  display.Print("Where to look next:");
  command("show", "the stream and its producers");
  command(fmt::format("show --step {}", step), "one step: who made it, its slices and checksums");
  command("tail", "step by step");
  display.Print(
      "  examples/demo/producer_main.cc, examples/demo/rank_main.cc: the code that publishes, and that trains");
  display.Print("");
}

}  // namespace

bool Summarize(const Results& results, const Commands& commands, Display& display) {
  const std::string complaint = Complaint(results);
  display.Print("");
  display.Print(complaint.empty() ? "All is as it should be." : "FAILED: " + complaint);
  PrintFigures(results, display);
  PrintWhereToLook(results.outcome.steps - 1, commands, display);
  const AuditReport& audit = results.verdict.train_audit;
  const nlohmann::ordered_json json = {{"samples", audit.samples},
                                       {"delivered", audit.delivered},
                                       {"missing", audit.missing},
                                       {"duplicates", audit.duplicates},
                                       {"restarts", results.outcome.restarts},
                                       {"statistic_identical", results.verdict.statistic_identical()},
                                       {"steps", results.outcome.steps},
                                       {"reclaimed_bytes", results.outcome.reclaimed_bytes},
                                       {"leaked_bytes", results.stored.leaked},
                                       {"seconds", std::round(display.seconds() * 10) / 10}};
  display.Print(json.dump());
  return complaint.empty();
}

}  // namespace batchweave::demo
