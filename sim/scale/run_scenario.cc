#include <cmath>
#include <ctime>
#include <memory>

#include "batchweave/base/check.h"
#include "batchweave/log/history.h"
#include "sim/scale/lab_producer.h"
#include "sim/scale/prices.h"
#include "sim/scale/scenario.h"

namespace batchweave::sim {
namespace {

// Everything of one scenario.
class Laboratory {
 public:
  explicit Laboratory(const Scenario& scenario)
      : scenario_(scenario),
        network_(scheduler_, *scenario.profile, /*limits_share=*/1, scenario.seed),
        unused_(scheduler_, /*ordered_list=*/true),
        machine_{.scheduler = scheduler_,
                 .server = unused_,
                 .network = network_,
                 .trace = trace_,
                 .at_worst_moment = at_worst_moment_},
        lab_(scheduler_, network_),
        backdoor_(lab_),
        observer_(machine_, "the tally", scenario.seed, {}, /*retries=*/false),
        random_(scenario.seed),
        tally_(scenario, scheduler_) {}

  ScaleRow Run() {
    const std::clock_t began = std::clock();
    const Env parts = observer_.env();
    const Env env{.store = backdoor_, .clock = parts.clock, .random = parts.random, .threads = parts.threads};
    stream_ = MakeLabStream(env, lab_, scenario_.producers, scenario_.steps);
    log_ = std::make_unique<ManifestLog>(env, stream_.keys, stream_.stream_json_hash);
    lab_.OnCreate([this](const std::string& key, const SharedBytes& bytes) { Look(key, bytes); });
    for (const Outage& outage : scenario_.outages) network_.AddOutage(outage);
    const SimTime until = scenario_.warmup + scenario_.window + scenario_.drain;
    for (size_t i = 0; i < scenario_.producers; ++i) {
      producers_.push_back(std::make_unique<LabProducer>(machine_, lab_, tally_, stream_, scenario_, i));
      const double spread = scenario_.rate_spread;
      // The mean of a log-normal number is exp(spread^2 / 2) times its median.
      const double factor = std::exp(spread * NextNormal(random_) - spread * spread / 2);
      producers_.back()->Start(scenario_.batches_per_s * factor, until);
    }
    RunUntil(scenario_.warmup);
    const RequestCounts before = lab_.requests();
    RunUntil(scenario_.warmup + scenario_.window);
    const RequestCounts after = lab_.requests();
    RunUntil(until);
    tally_.End();
    ScaleRow row;
    tally_.FillIn(row);
    FillInRequests(before, after, row);
    for (const auto& producer : producers_) producer->Stop();
    while (scheduler_.running() > 0 && scheduler_.RunOne()) {
    }
    row.cpu_s = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    return row;
  }

 private:
  void RunUntil(SimTime until) {
    bool reached = false;
    scheduler_.At(until, [&reached] { reached = true; });
    while (!reached) BW_CHECK(scheduler_.RunOne());
  }

  // What a new version names, wherever it keeps it.
  void Look(const std::string& key, const SharedBytes& bytes) {
    if (key.find("/manifest/") == std::string::npos) return;
    const Manifest manifest = *DecodeManifest(*bytes);
    std::vector<Entry> entries;
    const StepRange range{.first = stream_.next_step, .end = manifest.next_step};
    const Result<void> walked = ForEachEntry(*log_, manifest, range, [&](Step, const Entry& entry) -> Result<void> {
      entries.push_back(entry);
      return {};
    });
    BW_CHECK(walked.ok());
    BW_CHECK(entries.size() == manifest.next_step.value - stream_.next_step.value);
    stream_.next_step = manifest.next_step;
    tally_.OnCommit(entries);
  }

  void FillInRequests(const RequestCounts& before, const RequestCounts& after, ScaleRow& row) const {
    RequestCounts made = after;
    made.puts -= before.puts;
    made.gets -= before.gets;
    made.lists -= before.lists;
    made.deletes -= before.deletes;
    made.manifest_puts -= before.manifest_puts;
    const double batches = std::max<double>(1, static_cast<double>(tally_.committed_in_window()));
    const double commits = std::max<double>(1, static_cast<double>(tally_.commits_in_window()));
    row.manifest_puts_per_commit = static_cast<double>(made.manifest_puts) / commits;
    row.commits_per_s = commits / std::chrono::duration<double>(scenario_.window).count();
    row.requests_per_batch = static_cast<double>(made.all()) / batches;
    row.puts_per_batch = static_cast<double>(made.puts) / batches;
    row.gets_per_batch = static_cast<double>(made.gets) / batches;
    row.lists_per_batch = static_cast<double>(made.lists) / batches;
    row.deletes_per_batch = static_cast<double>(made.deletes) / batches;
    row.usd_per_million_batches = Dollars(*scenario_.profile, made) / batches * 1e6;
  }

  const Scenario scenario_;
  Scheduler scheduler_;
  Network network_;
  Server unused_;  // A process wants one; nothing of the laboratory asks it.
  Trace trace_;
  const std::function<void(Process&, double)> at_worst_moment_ = [](Process&, double) {};
  Machine machine_;
  LabServer lab_;
  LabBackdoor backdoor_;
  Process observer_;
  SeededRandom random_;
  Tally tally_;
  LabStream stream_;
  std::unique_ptr<ManifestLog> log_;
  std::vector<std::unique_ptr<LabProducer>> producers_;
};

}  // namespace

std::string_view PolicyName(Policy policy) {
  switch (policy) {
    case Policy::kDefault: return "default";
    case Policy::kFair: return "fair";
    case Policy::kFixed: return "fixed";
    case Policy::kAimd: return "aimd";
  }
  return "";
}

ScaleRow RunScenario(const Scenario& scenario) { return Laboratory(scenario).Run(); }

}  // namespace batchweave::sim
