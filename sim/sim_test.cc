// The simulator itself: that a seed is one run, that every kind of fleet is run, and that checkers speak.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "batchweave/lifecycle/tombstone.h"
#include "batchweave/testing/matchers.h"
#include "sim/checkers.h"
#include "sim/ledger.h"
#include "sim/plan.h"
#include "sim/process.h"
#include "sim/run_seeds.h"
#include "sim/simulate.h"
#include "sim/source.h"

namespace batchweave::sim {
namespace {

TEST(SimulateTest, OneSeedIsOneTrace) {
  std::set<uint64_t> traces;
  for (const uint64_t seed : {3, 4, 5}) {
    const Outcome once = Simulate(seed);
    const Outcome again = Simulate(seed);
    EXPECT_EQ(once.trace_hash, again.trace_hash) << "seed " << seed;
    EXPECT_EQ(once.operations, again.operations);
    EXPECT_GT(once.commits, 10u);
    traces.insert(once.trace_hash);
  }
  EXPECT_EQ(traces.size(), 3u);
}

// Producers that crash, sleep and are doubled, jobs, reclaimers, a deletion, on a store that fails in every way.
// Covers A1, A2, A8, B1, B2, B4, B5, C1, C2, C3, C4, D1, D2, D3, D4, D5, D6, D7, E1, E3, E4, E5.
// Covers M1, M2, M3, M4, M6, M7, M9, M10, M11, M12, M13, M14, M17, M18.
// Covers I1, I2, I3, I4, I5, I6, I7, I8, I9, I10, I11, I12.
TEST(SimulateTest, FleetsOfEveryKindBreakNothing) {
  const auto has_producer = [](const Plan& plan, auto is) { return std::ranges::any_of(plan.producers, is); };
  const std::vector<std::function<bool(const Plan&)>> kinds = {
      [&](const Plan& it) { return has_producer(it, [](const ProducerPlan& p) { return p.parts_every > 0; }); },
      [&](const Plan& it) { return has_producer(it, [](const ProducerPlan& p) { return p.max_lead_steps > 0; }); },
      [&](const Plan& it) { return has_producer(it, [](const ProducerPlan& p) { return p.more_batches > 0; }); },
      [&](const Plan& it) { return has_producer(it, [](const ProducerPlan& p) { return p.rewinds_share > 0; }); },
      [](const Plan& it) { return it.producers_a_process > 1 && it.producers.size() > 2; },
      [](const Plan& it) { return it.producers.size() > 6; },
      [](const Plan& it) { return it.producers.front().batches >= 4000; },  // So long that archives fold.
      [](const Plan& it) { return it.churn >= 100; },                       // So crowded that rows go.
      [](const Plan& it) { return it.jobs.size() == 2 && it.jobs[0].reclaims && it.operator_pace > Duration{}; },
      [](const Plan& it) { return it.cp == 2 && it.jobs.size() == 2 && it.jobs[1].uneven; },
      [](const Plan& it) { return it.reclaimers == 3 && it.sleepy_share > 0 && it.fate_pace > Duration{}; },
      [](const Plan& it) { return it.creators > 8 && it.limits_share < 1; },
      [](const Plan& it) { return it.seals_early; },
      [](const Plan& it) { return it.deletes_at_end; },
      [](const Plan& it) { return it.deletes_early; },
      [](const Plan& it) { return it.newer_binary; },
  };
  std::set<uint64_t> seeds;
  for (const auto& kind : kinds) {
    uint64_t seed = 1000;
    while (!kind(MakePlan(seed))) ++seed;
    seeds.insert(seed);
  }
  for (const uint64_t seed : seeds) {
    const Outcome outcome = Simulate(seed);
    ASSERT_TRUE(outcome.violations.empty()) << "seed " << seed << ": " << outcome.violations.front().message << "\n"
                                            << outcome.story;
  }
}

// Its reclaimers must see it before they retire the first version.
// Covers M5.
TEST(SimulateTest, AStoreThatOverwritesByRemovingIsRefused) {
  uint64_t seed = 1;
  while (!MakePlan(seed).removes_to_overwrite) ++seed;
  const Outcome outcome = Simulate(seed);
  EXPECT_TRUE(outcome.violations.empty()) << outcome.story;
  EXPECT_GT(outcome.commits, kLiveVersions) << "there was something to retire";
}

TEST(RunSeedsTest, CountsEachSeedOnceOverSeveralProcesses) {
  std::multiset<uint64_t> seen;
  const Totals totals = RunSeeds({.first_seed = 10, .seeds = 5, .jobs = 2, .on_outcome = [&](const Outcome& outcome) {
                                    seen.insert(outcome.seed);
                                  }});
  EXPECT_EQ(totals.seeds, 5u);
  EXPECT_EQ(totals.violations, 0u);
  EXPECT_THAT(seen, ::testing::ElementsAre(10, 11, 12, 13, 14));
}

TEST(ServerTest, AListThatRacesMayMissWhatNobodyHasSeenAndNothingElse) {
  Scheduler scheduler;
  Server server(scheduler, /*ordered_list=*/true);
  const auto bytes = std::make_shared<const Bytes>(ToBytes("x"));
  ASSERT_THAT(server.Put("a", bytes, PutMode::kCreate), IsOk());
  const auto count = [&](bool coin) { return server.List("", "", 10, {}, [&] { return coin; }).objects.size(); };
  EXPECT_EQ(count(false), 0u);
  EXPECT_EQ(count(true), 1u);
  EXPECT_EQ(count(false), 1u);  // That LIST has shown it.
  server.Delete("a");
  EXPECT_EQ(count(true), 1u);  // It went while the LIST was under way.
  EXPECT_EQ(count(false), 0u);
}

TEST(SourceTest, ACursorTellsItsNumberAndNothingElseDoes) {
  EXPECT_EQ(NumberOf(CursorOf(17, 0)), 17u);
  EXPECT_EQ(NumberOf(CursorOf(17, 100)), 17u);
  EXPECT_EQ(NumberOf({}), 0u);
  EXPECT_EQ(NumberOf(ToBytes("17")), std::nullopt);
  EXPECT_EQ(NumberOf(ToBytes("x.")), std::nullopt);
}

// A process that was killed reaches the store no more, and its waits are over at once.
TEST(ProcessTest, DeadOnesDoNothing) {
  Scheduler scheduler;
  Server server(scheduler, /*ordered_list=*/true);
  Network network(scheduler, S3Standard(), /*limits_share=*/1, /*seed=*/1);
  Trace trace;
  const std::function<void(Process&, double)> at_worst_moment = [](Process&, double) {};
  Process process({scheduler, server, network, trace, at_worst_moment}, "p", 1, {}, /*retries=*/false);
  bool over = false;
  process.Run([&] {
    EXPECT_THAT(PutBytes(process.env().store, "a", AsBytes("x"), PutMode::kCreate), IsOk());
    process.Kill();
    EXPECT_THAT(PutBytes(process.env().store, "b", AsBytes("x"), PutMode::kCreate), IsError(ErrorCode::kUnavailable));
    process.env().clock.SleepUntil(After(process.env().clock.Now(), std::chrono::hours(100)));
    over = true;
  });
  while (scheduler.RunOne()) {
  }
  EXPECT_TRUE(over);
  EXPECT_LT(scheduler.now(), std::chrono::hours(1));
  EXPECT_NE(server.Find("a"), nullptr);
  EXPECT_EQ(server.Find("b"), nullptr);
}

}  // namespace
}  // namespace batchweave::sim
