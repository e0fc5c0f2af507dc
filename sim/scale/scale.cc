#include "sim/scale/scale.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "sim/scale/fork_each.h"
#include "sim/scale/promises.h"
#include "sim/scale/scenario.h"

namespace batchweave::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kProducers[] = {1, 4, 16, 64, 256, 1000, 4000, 10'000};

// The solo laws are slower the more producers there are, and the simulation of their lost attempts with them; the faster a
// store answers, the more of those there are.
constexpr size_t kDefaultProducersMax = 10'000;
constexpr size_t kFairProducersMax = 256;
constexpr size_t kSoloProducersMax = 1000;
constexpr size_t kSoloProducersMaxOfFastStores = 64;
constexpr Duration kFastPut = std::chrono::milliseconds(10);

size_t SoloProducersMax(const StoreProfile& profile, size_t producers_max) {
  return profile.put.median < kFastPut ? std::min(producers_max, kSoloProducersMaxOfFastStores) : producers_max;
}
constexpr uint64_t kLongSteps = 1'000'000;
constexpr size_t kLongProducers[] = {16, 64, 256, 1000, 4000, 10'000};
constexpr size_t kTroubledProducers = 64;
constexpr size_t kMisfitsAmong = 1000;
constexpr Duration kTroubledDrain = std::chrono::seconds(60);

// Above so many the simulation is slow, and what is counted is plenty in less time.
constexpr size_t kManyProducers = 1000;
constexpr Duration kManyWarmup = std::chrono::seconds(20);
constexpr Duration kManyWindow = std::chrono::seconds(20);

Duration FromSeconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

template <typename T>
std::vector<T> Or(const std::vector<T>& wanted, const std::vector<T>& otherwise) {
  return wanted.empty() ? otherwise : wanted;
}

std::vector<const StoreProfile*> Profiles(const ScaleOptions& options) {
  const std::vector<const StoreProfile*> all{&S3Standard(), &S3Express(), &Gcs(), &LocalDirectory()};
  std::vector<const StoreProfile*> wanted;
  for (const StoreProfile* profile : all) {
    if (options.profile.empty() ? options.full || profile == all.front() : profile->name == options.profile) {
      wanted.push_back(profile);
    }
  }
  return wanted;
}

// One interval of `fixed` for every number of producers: what a user would set who knows one of them. Beyond so many its
// lost attempts are all that is simulated.
constexpr double kOneInterval = 1;
constexpr size_t kOneIntervalProducersMax = 256;

// Intervals of `fixed` that are tried for `producers`: from an attempt's length to one attempt at a time of all, and more.
std::vector<double> Intervals(const ScaleOptions& options, size_t producers) {
  if (!options.intervals_s.empty()) return options.intervals_s;
  const double together = std::max(0.25, 0.15 * static_cast<double>(producers));
  std::vector<double> intervals{together / 4, together / 2, together, together * 2};
  const bool is_among = std::ranges::find(intervals, kOneInterval) != intervals.end();
  if (producers <= kOneIntervalProducersMax && !is_among) intervals.push_back(kOneInterval);
  return intervals;
}

class Plan {
 public:
  explicit Plan(const ScaleOptions& options) : options_(options) {
    for (const StoreProfile* profile : Profiles(options)) {
      for (const size_t steps :
           Or(options.steps, options.full ? std::vector<size_t>{0, kLongSteps} : std::vector<size_t>{0})) {
        for (const size_t producers :
             Or(options.producers, std::vector<size_t>(std::begin(kProducers), std::end(kProducers)))) {
          AddAll(*profile, steps, producers);
        }
      }
    }
    if (AsksForAll()) {
      AddTroubles();
      AddLong();
    }
    // The longest first, so that none of them is waited for alone.
    std::ranges::sort(scenarios_, std::greater(), [](const Scenario& scenario) { return Weight(scenario); });
  }

  const std::vector<Scenario>& scenarios() const { return scenarios_; }

 private:
  static double Weight(const Scenario& scenario) {
    return static_cast<double>(scenario.producers) + static_cast<double>(scenario.steps) / 1000;
  }

  // Nothing was said of what to run.
  bool AsksForAll() const {
    return options_.policies.empty() && options_.producers.empty() && options_.profile.empty() &&
           options_.intervals_s.empty() && options_.steps.empty() && options_.troubles.empty();
  }

  bool Wants(std::string_view policy, size_t producers, size_t producers_max) const {
    if (options_.policies.empty()) return producers <= producers_max;
    return std::ranges::find(options_.policies, policy) != options_.policies.end();
  }

  Scenario Basic(const StoreProfile& profile, uint64_t steps, size_t producers) const {
    Scenario scenario{.policy = Policy::kDefault, .producers = producers, .steps = steps, .profile = &profile};
    scenario.batches_per_s = options_.rate;
    scenario.rate_spread = options_.rate_spread;
    scenario.seed = options_.seed;
    if (producers > kManyProducers) {
      scenario.warmup = kManyWarmup;
      scenario.window = kManyWindow;
    }
    if (options_.window_s > 0) scenario.window = FromSeconds(options_.window_s);
    return scenario;
  }

  void Add(Scenario scenario, const std::vector<Trouble>& troubles) {
    for (const Trouble trouble : troubles) {
      if (trouble == Trouble::kMisfits && scenario.producers < kMisfitsMin) continue;
      scenario.trouble = trouble;
      scenarios_.push_back(scenario);
      // What was stopped or down for a minute has so long to catch up.
      if (trouble != Trouble::kNone) scenarios_.back().drain = kTroubledDrain;
      if (trouble == Trouble::kOpenings) scenarios_.back().warmup = std::chrono::seconds(1);
    }
  }

  std::vector<Trouble> Troubles() const {
    std::vector<Trouble> troubles;
    for (const std::string& name : options_.troubles) troubles.push_back(*FindTrouble(name));
    return Or(troubles, {Trouble::kNone});
  }

  void AddAll(const StoreProfile& profile, uint64_t steps, size_t producers) {
    Scenario scenario = Basic(profile, steps, producers);
    if (Wants("default", producers, kDefaultProducersMax)) Add(scenario, Troubles());
    scenario.policy = Policy::kFair;
    if (Wants("fair", producers, SoloProducersMax(profile, kFairProducersMax))) Add(scenario, Troubles());
    scenario.policy = Policy::kAimd;
    if (Wants("aimd", producers, SoloProducersMax(profile, kSoloProducersMax))) Add(scenario, Troubles());
    if (!Wants("fixed", producers, SoloProducersMax(profile, kSoloProducersMax))) return;
    scenario.policy = Policy::kFixed;
    for (const double interval : Intervals(options_, producers)) {
      scenario.fixed_interval = FromSeconds(interval);
      Add(scenario, Troubles());
    }
  }

  // What users get, in every trouble; and the openings of the largest fleet.
  void AddTroubles() {
    for (const Trouble trouble : AllTroubles()) {
      if (trouble != Trouble::kNone) Add(Basic(S3Standard(), 0, kTroubledProducers), {trouble});
    }
    Add(Basic(S3Standard(), 0, kMisfitsAmong), {Trouble::kMisfits});
    Scenario openings = Basic(S3Standard(), 0, kDefaultProducersMax);
    openings.batches_per_s = 0;
    Add(openings, {Trouble::kOpenings});
  }

  // And on a manifest that has grown.
  void AddLong() {
    if (options_.full) return;
    for (const size_t producers : kLongProducers) Add(Basic(S3Standard(), kLongSteps, producers), {Trouble::kNone});
  }

  const ScaleOptions& options_;
  std::vector<Scenario> scenarios_;
};

// Each producer holds a version that it has read, with a row of each: measured.
uint64_t MemoryOf(const Scenario& scenario) {
  constexpr uint64_t kRowBytes = 180;
  return kRowBytes * scenario.producers * scenario.producers;
}

uint64_t MemoryAtHand(const ScaleOptions& options) {
  constexpr double kShare = 0.8;  // The rest is for the system, and for what MemoryOf does not count.
  const auto bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return static_cast<uint64_t>(options.memory_gib > 0 ? options.memory_gib * (uint64_t{1} << 30) : kShare * bytes);
}

double Rounded(double value) { return std::round(value * 1e4) / 1e4; }

Json ToJson(const Scenario& scenario, const ScaleRow& row) {
  Json json{{"policy", PolicyName(scenario.policy)}, {"producers", scenario.producers}, {"steps", scenario.steps}};
  if (scenario.trouble != Trouble::kNone) json["trouble"] = TroubleName(scenario.trouble);
  if (scenario.profile != &S3Standard()) json["store"] = scenario.profile->name;
  if (scenario.policy == Policy::kFixed) {
    json["interval_s"] = Rounded(std::chrono::duration<double>(scenario.fixed_interval).count());
  }
  if (scenario.seed != 1) json["seed"] = scenario.seed;
  json["ingest_ratio"] = Rounded(row.ingest_ratio);
  json["staleness_p50_s"] = Rounded(row.staleness_p50_s);
  json["staleness_p99_s"] = Rounded(row.staleness_p99_s);
  json["manifest_puts_per_commit"] = Rounded(row.manifest_puts_per_commit);
  json["requests_per_batch"] = Rounded(row.requests_per_batch);
  json["usd_per_million_batches"] = Rounded(row.usd_per_million_batches);
  json["jain"] = Rounded(row.jain);
  json["starved"] = row.starved;
  json["longest_wait_s"] = Rounded(row.longest_wait_s);
  json["median_wait_s"] = Rounded(row.median_wait_s);
  json["late_share"] = Rounded(row.late_share);
  if (row.all_open_s != 0) json["all_open_s"] = Rounded(row.all_open_s);
  json["commits_per_s"] = Rounded(row.commits_per_s);
  json["puts_per_batch"] = Rounded(row.puts_per_batch);
  json["intent_puts_per_batch"] = Rounded(row.intent_puts_per_batch);
  json["gets_per_batch"] = Rounded(row.gets_per_batch);
  json["lists_per_batch"] = Rounded(row.lists_per_batch);
  json["deletes_per_batch"] = Rounded(row.deletes_per_batch);
  json["cpu_s"] = Rounded(row.cpu_s);
  return json;
}

// Of the intervals of `fixed` the best for each number of producers: what an oracle would set, which no user has; and the
// one that is the same for all.
std::vector<Json> WithBestFixed(const std::vector<Json>& rows, bool all) {
  std::vector<Json> kept;
  std::map<std::tuple<std::string, std::string, size_t, size_t>, Json> best;
  for (const Json& row : rows) {
    const bool is_fixed = row["policy"] == "fixed";
    if (!is_fixed || all || row["interval_s"] == kOneInterval) kept.push_back(row);
    if (!is_fixed || all) continue;
    Json& known = best[{row.value("trouble", ""), row.value("store", "s3"), row["steps"].get<size_t>(),
                        row["producers"].get<size_t>()}];
    if (known.is_null() || row["staleness_p99_s"] < known["staleness_p99_s"]) known = row;
  }
  for (const auto& [key, row] : best) {
    if (row["interval_s"] != kOneInterval) kept.push_back(row);
  }
  return kept;
}

void PrintTable(const std::vector<Json>& rows) {
  fmt::print("{:10} {:>9} {:>8} {:10} {:10} {:>7} {:>8} {:>8} {:>8} {:>9} {:>9} {:>6} {:>8}\n", "policy", "producers",
             "steps", "store", "trouble", "ingest", "p50 s", "p99 s", "PUT/com.", "req/batch", "$/10^6", "Jain",
             "starved");
  for (const Json& row : rows) {
    fmt::print("{:10} {:>9} {:>8} {:10} {:10} {:>7.3f} {:>8.2f} {:>8.2f} {:>8.2f} {:>9.2f} {:>9.2f} {:>6.3f} {:>8}\n",
               row["policy"].get<std::string>(), row["producers"].get<size_t>(), row["steps"].get<size_t>(),
               row.value("store", "s3"), row.value("trouble", ""), row["ingest_ratio"].get<double>(),
               row["staleness_p50_s"].get<double>(), row["staleness_p99_s"].get<double>(),
               row["manifest_puts_per_commit"].get<double>(), row["requests_per_batch"].get<double>(),
               row["usd_per_million_batches"].get<double>(), row["jain"].get<double>(), row["starved"].get<uint64_t>());
  }
}

}  // namespace

int RunScale(const ScaleOptions& options) {
  const Plan plan(options);
  const std::vector<Scenario>& scenarios = plan.scenarios();
  const auto work = [&](size_t i) { return ToJson(scenarios[i], RunScenario(scenarios[i])).dump(); };
  size_t done = 0;
  const auto told = [&](size_t, const std::string& line) {
    fmt::print(stderr, "{} of {}: {}\n", ++done, scenarios.size(), line);
  };
  std::vector<Json> rows;
  bool complete = true;
  std::vector<uint64_t> memory_bytes;
  for (const Scenario& scenario : scenarios) memory_bytes.push_back(MemoryOf(scenario));
  const ForkLimits limits{.jobs = options.jobs, .memory_bytes = MemoryAtHand(options)};
  for (const std::optional<std::string>& answer : ForkEach(memory_bytes, limits, work, told)) {
    complete = complete && answer;
    if (answer) rows.push_back(Json::parse(*answer));
  }
  rows = WithBestFixed(rows, options.full || !options.intervals_s.empty());
  std::ranges::sort(rows, {}, [](const Json& row) {
    return std::tuple(row.value("trouble", ""), row.value("store", "s3"), row["steps"].get<size_t>(),
                      row["producers"].get<size_t>(), row["policy"].get<std::string>(), row.value("interval_s", 0.0));
  });
  if (options.json) {
    fmt::print("{}\n", Json{{"rows", rows}}.dump());
  } else {
    PrintTable(rows);
  }
  if (!complete) fmt::print(stderr, "bw_sim scale: a run did not come to its end\n");
  for (const Json& row : rows) {
    const std::string missed = Missed(row);
    if (missed.empty()) continue;
    complete = false;
    fmt::print(stderr, "bw_sim scale: {} is not what docs/commit-control.md promises: {}\n", missed, row.dump());
  }
  return complete ? 0 : 1;
}

}  // namespace batchweave::sim
