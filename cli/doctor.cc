#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "batchweave/format/keys.h"
#include "batchweave/log/progress.h"
#include "batchweave/store/full_probe.h"
#include "batchweave/stream/stream_url.h"
#include "cli/bottleneck.h"
#include "cli/commands.h"
#include "cli/progress_bar.h"
#include "cli/target.h"
#include "cli/text.h"

namespace batchweave::cli {
namespace {

struct Options {
  bool clean = false;
  bool quick = false;
};

struct Findings {
  uint64_t cleaned = 0;
  std::vector<SizeFigures> figures;
  std::vector<GroupLead> leads;
  Bottleneck bottleneck;
};

double Milliseconds(Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

std::vector<GroupLead> LeadsOf(ManifestLog& log, const Manifest& manifest) {
  std::vector<GroupLead> leads;
  for (const GroupRow& group : manifest.groups) {
    const std::optional<Step> reached = ReadProgress(log, manifest, group.name);
    leads.push_back(
        {.group = group.name, .steps_ahead = manifest.next_step.value - reached.value_or(group.smallest_held).value});
  }
  return leads;
}

void PrintJson(Console& console, const std::string& name, const Findings& findings) {
  Json sizes = Json::array();
  for (const SizeFigures& size : findings.figures) {
    sizes.push_back({{"size_bytes", size.size_bytes},
                     {"objects", size.objects},
                     {"put_p50_ms", Milliseconds(size.put_p50)},
                     {"put_p99_ms", Milliseconds(size.put_p99)},
                     {"get_p50_ms", Milliseconds(size.get_p50)},
                     {"get_p99_ms", Milliseconds(size.get_p99)},
                     {"put_bytes_per_s", size.put_bytes_per_s},
                     {"get_bytes_per_s", size.get_bytes_per_s}});
  }
  const Bottleneck& bottleneck = findings.bottleneck;
  Json producers = Json::array();
  for (const ProducerPace& pace : bottleneck.producers) {
    producers.push_back(
        {{"producer", pace.producer}, {"batches", pace.batches}, {"batches_per_s", pace.batches_per_s}});
  }
  Json groups = Json::array();
  for (const GroupLead& lead : findings.leads) {
    groups.push_back({{"group", lead.group}, {"steps_ahead", lead.steps_ahead}});
  }
  console.PrintJson(
      {{"name", name},
       {"store", "suitable"},
       {"cleaned_objects", findings.cleaned},
       {"sizes", std::move(sizes)},
       {"seconds_since_commit", bottleneck.seconds_since_commit ? Json(*bottleneck.seconds_since_commit) : Json()},
       {"steps_per_s", bottleneck.steps_per_s},
       {"producers", std::move(producers)},
       {"groups", std::move(groups)},
       {"bound", bottleneck.bound},
       {"why", bottleneck.why}});
}

void PrintText(Console& console, const Findings& findings) {
  console.Print("the store keeps every rule that was tried: racing creators, overwrites, lists, ranges\n");
  if (findings.cleaned > 0)
    console.Print(fmt::format("removed {} of earlier probes\n", Counted(findings.cleaned, "object")));
  Table table({">SIZE", ">PUT P50", ">PUT P99", ">GET P50", ">GET P99", ">PUT", ">GET"});
  const auto ms = [](Duration duration) { return fmt::format("{:.2f} ms", Milliseconds(duration)); };
  const auto rate = [](double bytes_per_s) { return HumanSize(static_cast<uint64_t>(bytes_per_s)) + "/s"; };
  for (const SizeFigures& size : findings.figures) {
    table.AddRow({HumanSize(size.size_bytes), ms(size.put_p50), ms(size.put_p99), ms(size.get_p50), ms(size.get_p99),
                  rate(size.put_bytes_per_s), rate(size.get_bytes_per_s)});
  }
  console.Print("\n" + table.Format("  ") + "\n");
  const Bottleneck& bottleneck = findings.bottleneck;
  if (bottleneck.seconds_since_commit) {
    console.Print(fmt::format("  last commit {:.0f} s ago, {:.2f} steps/s\n", *bottleneck.seconds_since_commit,
                              bottleneck.steps_per_s));
  }
  for (const ProducerPace& pace : bottleneck.producers) {
    console.Print(fmt::format("  producer {}: {:.2f} batches/s\n", pace.producer, pace.batches_per_s));
  }
  for (const GroupLead& lead : findings.leads) {
    console.Print(fmt::format("  group {}: {} ready to be read\n", lead.group, Counted(lead.steps_ahead, "step")));
  }
  console.Print(fmt::format("\nbound by {}: {}\n", bottleneck.bound, bottleneck.why));
}

Result<void> Doctor(Console& console, const std::string& url, const Options& options) {
  Target target = BW_TRY(OpenTarget(url));
  const StreamUrl split = BW_TRY(SplitStreamUrl(url));
  const std::unique_ptr<OwnedEnv> second = BW_TRY(OpenEnv(split.folder, kCommandEnv));
  const Env env = target.env->env();
  const std::string& name = target.stream.name();
  Findings findings;
  if (options.clean) findings.cleaned = BW_TRY(CleanProbes(env.store, name + "/probe/"));
  {
    ProgressBar bar(console, env.clock);
    FullProbeOptions probe{.progress = [&](std::string_view phase) { bar.Update(phase, 0, 0, Unit::kThings); }};
    if (options.quick) {
      probe.object_bytes_max = uint64_t{1} << 20;
      probe.time_per_size = std::chrono::milliseconds(100);
    }
    const std::string prefix = ProbePrefix(name, env.random.Next());
    findings.figures = BW_TRY(ProbeFully(env, second->env().store, prefix, probe));
  }
  const Manifest manifest = BW_TRY(target.stream.log().ReadNewest()).manifest;
  findings.leads = LeadsOf(target.stream.log(), manifest);
  findings.bottleneck = FindBottleneck(manifest, findings.leads, env.clock.WallNow(), findings.figures);
  if (console.json()) {
    PrintJson(console, name, findings);
  } else {
    PrintText(console, findings);
  }
  return {};
}

}  // namespace

void AddDoctor(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.Add({.name = "doctor",
            .description = "try out the store in full, measure it, and say what bounds the stream",
            .examples = "  batchweave doctor file:///data/runs/llm-7b\n"
                        "  batchweave doctor --quick ./runs/llm-7b --json | jq -r .bound"},
           UrlOf::kStream,
           [options](Console& console, const std::string& url) { return Doctor(console, url, *options); })
      .Flag("--clean", options->clean, "first remove what stopped probes left; no other probe may be under way")
      .Flag("--quick", options->quick, "measure small objects only, for a moment");
}

}  // namespace batchweave::cli
