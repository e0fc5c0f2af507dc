#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>
#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/log/history.h"
#include "sim/scale/lab_producer.h"
#include "sim/scale/prices.h"
#include "sim/scale/scenario.h"

namespace batchweave::sim {
namespace {

// Misfits.
constexpr size_t kIdle = 0;
constexpr size_t kPaused = 1;
constexpr size_t kFast = 2;
constexpr size_t kSlow = 3;
constexpr double kMisfitFactor = 20;
static_assert(kSlow < kMisfitsMin);

constexpr size_t kHurriedOneIn = 4;

constexpr double kLognormalSpread = 1;  // One in a hundred has ten times the median, or a tenth.
constexpr uint64_t kBurst = 8;
constexpr double kRefusedShare = 0.5;
constexpr Duration kTroubleTime = std::chrono::minutes(1);

constexpr std::pair<Trouble, std::string_view> kTroubleNames[] = {
    {Trouble::kNone, "none"},         {Trouble::kLognormal, "lognormal"}, {Trouble::kBursts, "bursts"},
    {Trouble::kRestarts, "restarts"}, {Trouble::kThrottled, "throttled"}, {Trouble::kOutage, "outage"},
    {Trouble::kMisfits, "misfits"},   {Trouble::kHurried, "hurried"},     {Trouble::kOpenings, "openings"}};

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
    const bool opens = scenario_.trouble == Trouble::kOpenings;
    observer_.Run([&] { stream_ = MakeLabStream(env, lab_, opens ? 0 : scenario_.producers, scenario_.steps); });
    while (!observer_.idle()) BW_CHECK(scheduler_.RunOne());
    log_ = std::make_unique<ManifestLog>(env, stream_.keys, stream_.stream_json_hash);
    lab_.OnCreate([this](const std::string& key, const SharedBytes& bytes) { Look(key, bytes); });
    const SimTime until = scenario_.warmup + scenario_.window + scenario_.drain;
    for (size_t i = 0; i < scenario_.producers; ++i) {
      producers_.push_back(std::make_unique<LabProducer>(machine_, lab_, tally_, stream_, scenario_, i));
      works_.push_back(WorkOf(i, until));
      if (works_.back().max_staleness > Duration{}) tally_.Hurry(i);
      if (!opens) producers_.back()->Start(works_.back());
    }
    PlanTrouble();
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
    row.all_open_s = AllOpen();
    row.cpu_s = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    return row;
  }

 private:
  LabProducer::Work WorkOf(size_t index, SimTime until) {
    LabProducer::Work work{.batches_per_s = scenario_.batches_per_s, .burst = 1, .until = until};
    double spread = scenario_.rate_spread;
    switch (scenario_.trouble) {
      case Trouble::kLognormal: spread = kLognormalSpread; break;
      case Trouble::kBursts: work.burst = kBurst; break;
      case Trouble::kMisfits:
        if (index == kIdle) work.batches_per_s = 0;
        if (index == kFast) work.batches_per_s *= kMisfitFactor;
        if (index == kSlow) work.batches_per_s /= kMisfitFactor;
        break;
      case Trouble::kHurried:
        if (index % kHurriedOneIn == 0) work.max_staleness = kHurriedStaleness;
        break;
      default: break;
    }
    // The mean of a log-normal number is exp(spread^2 / 2) times its median.
    if (spread > 0) work.batches_per_s *= std::exp(spread * NextNormal(random_) - spread * spread / 2);
    return work;
  }

  void PlanTrouble() {
    for (const Outage& outage : scenario_.outages) network_.AddOutage(outage);
    const SimTime from = scenario_.warmup + scenario_.window / 4;
    switch (scenario_.trouble) {
      case Trouble::kOutage: network_.AddOutage({.from = from, .until = from + kTroubleTime, .part = ""}); break;
      case Trouble::kThrottled: {
        FaultRates rates{};
        rates[static_cast<size_t>(FaultKind::kFailBefore)] = kRefusedShare;
        scheduler_.At(from, [this, rates] { network_.SetRates(rates); });
        scheduler_.At(from + kTroubleTime, [this] { network_.SetRates({}); });
        break;
      }
      case Trouble::kMisfits:
        tally_.Excuse(kPaused);
        scheduler_.At(from, [this] { producers_[kIdle]->Publish(); });
        scheduler_.At(from, [this, from] { producers_[kPaused]->PauseUntil(from + kTroubleTime); });
        break;
      case Trouble::kRestarts: scheduler_.At(from, [this] { RestartHalf(); }); break;
      case Trouble::kOpenings:
        scheduler_.At(scenario_.warmup, [this] {
          opening_began_ = scheduler_.now();
          for (size_t i = 0; i < producers_.size(); ++i) producers_[i]->OpenAndStart(works_[i]);
        });
        break;
      default: break;
    }
  }

  void RestartHalf() {
    opening_began_ = scheduler_.now();
    for (size_t i = 0; i < scenario_.producers; i += 2) {
      producers_[i]->Stop();
      tally_.OnKill(i);
      gone_.push_back(std::exchange(
          producers_[i], std::make_unique<LabProducer>(machine_, lab_, tally_, stream_, scenario_, i, /*life=*/1)));
      producers_[i]->OpenAndStart(works_[i]);
    }
  }

  // From the start of all until the last was open; negative where not all are.
  double AllOpen() const {
    const bool all = scenario_.trouble == Trouble::kOpenings;
    if (!all && scenario_.trouble != Trouble::kRestarts) return 0;
    const size_t wanted = all ? scenario_.producers : (scenario_.producers + 1) / 2;
    if (tally_.opened_at().size() < wanted) return -1;
    return std::chrono::duration<double>(tally_.opened_at().back() - opening_began_).count();
  }

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
    made.intent_puts -= before.intent_puts;
    const double batches = std::max<double>(1, static_cast<double>(tally_.committed_in_window()));
    const double commits = std::max<double>(1, static_cast<double>(tally_.commits_in_window()));
    row.manifest_puts_per_commit = static_cast<double>(made.manifest_puts) / commits;
    row.commits_per_s = commits / std::chrono::duration<double>(scenario_.window).count();
    row.requests_per_batch = static_cast<double>(made.all()) / batches;
    row.puts_per_batch = static_cast<double>(made.puts) / batches;
    row.intent_puts_per_batch = static_cast<double>(made.intent_puts) / batches;
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
  std::vector<std::unique_ptr<LabProducer>> gone_;  // Killed: their fibres end in their own time.
  std::vector<LabProducer::Work> works_;
  SimTime opening_began_{};
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

std::string_view TroubleName(Trouble trouble) {
  return std::ranges::find(kTroubleNames, trouble, &std::pair<Trouble, std::string_view>::first)->second;
}

std::optional<Trouble> FindTrouble(std::string_view name) {
  for (const auto& [trouble, its_name] : kTroubleNames) {
    if (name == its_name) return trouble;
  }
  return std::nullopt;
}

std::vector<Trouble> AllTroubles() {
  std::vector<Trouble> troubles;
  for (const auto& [trouble, name] : kTroubleNames) troubles.push_back(trouble);
  return troubles;
}

ScaleRow RunScenario(const Scenario& scenario) { return Laboratory(scenario).Run(); }

}  // namespace batchweave::sim
