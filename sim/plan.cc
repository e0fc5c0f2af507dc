#include "sim/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "batchweave/base/hash.h"
#include "batchweave/testing/seeded_random.h"

namespace batchweave::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class Draws {
 public:
  explicit Draws(uint64_t seed) : random_(seed) {}
  bool Chance(double share) { return NextUnit(random_) < share; }
  uint64_t Between(uint64_t low, uint64_t high) { return low + random_.Next() % (high - low + 1); }
  Duration Between(Duration low, Duration high) {
    return low + std::chrono::duration_cast<Duration>((high - low) * NextUnit(random_));
  }

 private:
  SeededRandom random_;
};

const StoreProfile& DrawProfile(Draws& draw) {
  const std::array<const StoreProfile*, 4> all{&S3Standard(), &S3Express(), &Gcs(), &LocalDirectory()};
  return *all.at(draw.Between(0, all.size() - 1));
}

// Most runs see a few kinds of faults often, rather than all of them a little: so each kind also meets quiet company.
FaultRates DrawRates(Draws& draw) {
  FaultRates rates{};
  if (draw.Chance(0.1)) return rates;  // Races alone.
  const double worst = draw.Chance(0.3) ? 0.2 : 0.03;
  for (size_t kind = 0; kind <= static_cast<size_t>(FaultKind::kFlippedBody); ++kind) {
    if (!draw.Chance(0.4)) continue;
    rates.at(kind) = worst * static_cast<double>(draw.Between(1, 100)) / 100;
    // A network that damages more than a few answers in a hundred is one that nothing can be read over.
    if (kind >= static_cast<size_t>(FaultKind::kShortBody)) rates.at(kind) /= 4;
  }
  if (draw.Chance(0.5)) rates[static_cast<size_t>(FaultKind::kSpuriousWakeup)] = 0.05;
  return rates;
}

// `heavy`: large entries fill the tail soon, so that history is archived and folded within one run.
ProducerPlan DrawProducer(Draws& draw, uint64_t number, uint64_t batches_max, bool heavy) {
  ProducerPlan plan{.name = fmt::format("source{}", number)};
  plan.max_lead_bytes = draw.Chance(0.05) ? draw.Between(500, 20'000) : 0;
  plan.more_batches = draw.Chance(0.15) ? draw.Between(1, 10) : 0;
  plan.rewinds_share = draw.Chance(0.15) ? 0.1 : 0;
  plan.batches = draw.Between(batches_max / 4, batches_max);
  plan.pace = draw.Between(milliseconds(100), seconds(4));
  plan.cursor_bytes = heavy || draw.Chance(0.3) ? draw.Between(0, 1000) : 0;
  plan.metadata_bytes = heavy ? 1000 : draw.Chance(0.3) ? draw.Between(0, 1000) : 0;
  plan.flush_every = draw.Between(1, 12);
  plan.parts_every = draw.Chance(0.4) ? draw.Between(1, 5) : 0;
  plan.max_lead_steps = draw.Chance(0.25) ? draw.Between(5, 40) : 0;
  return plan;
}

// So much history that archived objects fold into an index.
void MakeLong(Draws& draw, Plan& plan) {
  plan.producers.resize(1);
  ProducerPlan& producer = plan.producers.front();
  producer.batches = draw.Between(4000, 4500);
  producer.pace = milliseconds(50);
  producer.flush_every = draw.Between(20, 40);
  producer.cursor_bytes = 1024;
  producer.metadata_bytes = 1024;
  producer.max_lead_steps = 0;
  producer.max_lead_bytes = 0;
  for (JobPlan& job : plan.jobs) {
    job.step_time = milliseconds(20);
    job.checkpoint_every = draw.Between(50, 3000);
  }
}

// So many producers one after the other that rows fill tables, and so many versions that rows go.
void MakeCrowded(Draws& draw, Plan& plan) {
  plan.churn = draw.Between(100, 200);
  plan.churners = 4;
}

// Who asks how its commit ended is told nonsense, often twice in a row.
void MakeDamaging(Draws& draw, Plan& plan) {
  plan.rates[static_cast<size_t>(FaultKind::kApplyThenFail)] = 0.2;
  for (const FaultKind kind : {FaultKind::kShortBody, FaultKind::kFlippedBody}) {
    plan.rates[static_cast<size_t>(kind)] = 0.01 * static_cast<double>(draw.Between(5, 15));
  }
}

// Fault M5. Nothing else goes wrong, for a probe that could hardly try anything proves nothing.
void MakeRemoving(Draws& draw, Plan& plan) {
  plan.removes_to_overwrite = true;
  plan.profile = draw.Chance(0.5) ? &S3Standard() : &S3Express();
  plan.rates = {};
  plan.limits_share = 1;
  plan.fate_pace = {};
  plan.sleepy_share = 0;
  plan.deletes_at_end = false;
  plan.deletes_early = false;
  plan.reclaimers = std::max(plan.reclaimers, 1U);
}

// Seeds that follow each other must not draw the same numbers one place further on.
uint64_t SeedOf(uint64_t seed) { return Hash64(AsBytes(fmt::format("plan {}", seed))); }

}  // namespace

Plan MakePlan(uint64_t seed) {
  Draws draw(SeedOf(seed));
  Plan plan{.seed = seed, .profile = &DrawProfile(draw)};
  plan.retries = draw.Chance(0.5);
  plan.rates = DrawRates(draw);
  plan.storm = draw.Between(minutes(2), minutes(20));
  plan.cp = draw.Chance(0.5) ? 2 : 1;
  const bool heavy = draw.Chance(0.15);
  const uint64_t producers = draw.Chance(0.2) ? draw.Between(5, 10) : draw.Between(1, 4);
  for (uint64_t i = 0; i < producers; ++i) {
    plan.producers.push_back(DrawProducer(draw, i, (heavy ? 300 : 160) / producers, heavy));
  }
  if (draw.Chance(0.3)) plan.producers_a_process = draw.Between(2, 4);
  if (draw.Chance(0.3)) plan.churn = draw.Between(2, 20);
  const uint64_t jobs = draw.Between(0, 2);
  for (uint64_t i = 0; i < jobs; ++i) {
    plan.jobs.push_back({.group = fmt::format("job{}", i),
                         .step_time = draw.Between(milliseconds(50), seconds(4)),
                         .checkpoint_every = draw.Between(3, 25),
                         .reclaims = draw.Chance(0.3),
                         .uneven = draw.Chance(0.2)});
  }
  plan.reclaimers = static_cast<uint32_t>(draw.Between(heavy ? 2 : 0, 3));
  plan.reclaim_pace = draw.Between(seconds(10), heavy ? seconds(40) : minutes(4));
  plan.fate_pace = draw.Chance(0.8) ? draw.Between(seconds(5), minutes(3)) : Duration{};
  plan.operator_pace = draw.Chance(0.5) ? draw.Between(seconds(20), minutes(3)) : Duration{};
  plan.creators = draw.Chance(0.3) ? static_cast<uint32_t>(draw.Between(2, 12)) : 1;
  if (draw.Chance(heavy ? 0.6 : 0.2)) plan.sleepy_share = 0.3;
  plan.seals_early = draw.Chance(0.08);
  plan.deletes_at_end = draw.Chance(0.06);
  plan.newer_binary = draw.Chance(0.03);
  plan.deletes_early = draw.Chance(0.05);
  if (draw.Chance(0.15)) {
    // Whoever is throttled tries again, or a long walk never comes to its end.
    plan.limits_share = 0.002 * static_cast<double>(draw.Between(1, 10));
    plan.retries = true;
  }
  if (draw.Chance(0.02)) MakeDamaging(draw, plan);
  if (draw.Chance(0.02)) MakeRemoving(draw, plan);
  if (draw.Chance(0.03)) MakeLong(draw, plan);
  if (draw.Chance(0.03)) MakeCrowded(draw, plan);
  return plan;
}

std::string Describe(const Plan& plan) {
  std::string rates;
  for (size_t kind = 0; kind < kFaultKinds; ++kind) {
    if (plan.rates.at(kind) == 0) continue;
    rates += fmt::format(" {} {:.1f} %", FaultKindName(static_cast<FaultKind>(kind)), 100 * plan.rates.at(kind));
  }
  return fmt::format(
      "{}; {} producers, {} a process, {} short-lived; {} jobs; {} reclaimers; storm {} s; faults:{}{}{}{}{}{}",
      plan.profile->name, plan.producers.size(), plan.producers_a_process, plan.churn * plan.churners, plan.jobs.size(),
      plan.reclaimers, std::chrono::duration_cast<seconds>(plan.storm).count(), rates.empty() ? " none" : rates,
      plan.retries ? "; clients retry" : "",
      plan.deletes_early    ? "; deleted in mid-run"
      : plan.deletes_at_end ? "; deleted at the end"
                            : "",
      plan.limits_share < 1 ? "; a busy store" : "", plan.newer_binary ? "; a newer binary comes" : "",
      plan.removes_to_overwrite ? "; overwrites by removing" : "");
}

}  // namespace batchweave::sim
