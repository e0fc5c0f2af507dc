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
  if (!verdict.audit.clean()) return "samples are missing or doubled";
  if (!verdict.statistic_identical()) return "the ranks' statistic differs from that of the undisturbed process";
  if (results.outcome.steps != verdict.reference.position) {
    return fmt::format("the stream has {} steps, and should have {}", results.outcome.steps,
                       verdict.reference.position);
  }
  return results.verified ? "" : "verify --deep found the stream broken";
}

void PrintFigures(const Results& results, Display& display) {
  const auto line = [&](std::string_view label, const std::string& text) {
    display.Print(fmt::format("  {:<11} {}", label, text));
  };
  const Verdict& verdict = results.verdict;
  const AuditReport& audit = verdict.audit;
  const JobOutcome& outcome = results.outcome;
  line("samples", fmt::format("{} of {} delivered exactly once; {} missing, {} doubled, {} unknown", audit.delivered,
                              audit.samples, audit.missing, audit.duplicates, audit.unknown));
  for (const std::string& finding : audit.findings) line("", finding);
  const Statistic& statistic = verdict.ranks.statistic;
  line("statistic", fmt::format("{:016x}, {} {:016x}", statistic.Digest(),
                                verdict.statistic_identical() ? "and undisturbed" : "BUT UNDISTURBED",
                                verdict.reference.statistic.Digest()));
  line("", fmt::format("{} text tokens, {} patches; red {:.1f} green {:.1f} blue {:.1f} on average",
                       statistic.text_tokens(), statistic.patches(), MeanOf(statistic.channels()[0]),
                       MeanOf(statistic.channels()[1]), MeanOf(statistic.channels()[2])));
  line("stream", fmt::format("{} steps in {} commits", outcome.steps, outcome.versions));
  line("ranks", fmt::format("read {} in {} requests, what killed ranks read twice included", HumanSize(outcome.bytes),
                            outcome.requests));
  line("killed", fmt::format("{} processes with kill -9, all of them back", outcome.restarts));
}

void PrintWhereToLook(uint64_t steps, const Commands& commands, Display& display) {
  const auto command = [&](std::string_view subcommand, std::string_view what) {
    display.Print(fmt::format("  {:<70} {}", commands.ForPeople(subcommand), what));
  };
  display.Print("");
  display.Print("Where to look next:");
  command("show", "the stream and its producers");
  command(fmt::format("show --step {}", steps / 2), "one step: who made it, its slices and checksums");
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
  PrintWhereToLook(results.outcome.steps, commands, display);
  const AuditReport& audit = results.verdict.audit;
  const nlohmann::ordered_json json = {{"samples", audit.samples},
                                       {"delivered", audit.delivered},
                                       {"missing", audit.missing},
                                       {"duplicates", audit.duplicates},
                                       {"restarts", results.outcome.restarts},
                                       {"statistic_identical", results.verdict.statistic_identical()},
                                       {"steps", results.outcome.steps},
                                       {"seconds", std::round(display.seconds() * 10) / 10}};
  display.Print(json.dump());
  return complaint.empty();
}

}  // namespace batchweave::demo
