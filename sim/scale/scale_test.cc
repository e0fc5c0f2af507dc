// The laboratory itself: that its store keeps the rules, that it counts what it is asked, and that a law shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <nlohmann/json.hpp>

#include "batchweave/base/clock.h"
#include "batchweave/testing/matchers.h"
#include "sim/scale/fork_each.h"
#include "sim/scale/lab_store.h"
#include "sim/scale/prices.h"
#include "sim/scale/promises.h"
#include "sim/scale/scenario.h"
#include "sim/scale/tally.h"

namespace batchweave::sim {
namespace {

using std::chrono::seconds;

Scenario Short(Policy policy, size_t producers) {
  return {.policy = policy,
          .producers = producers,
          .profile = &S3Standard(),
          .fixed_interval = seconds(1),
          .warmup = seconds(10),
          .window = seconds(60)};
}

TEST(RunScenarioTest, OneSeedIsOneRow) {
  const ScaleRow once = RunScenario(Short(Policy::kFair, 4));
  const ScaleRow again = RunScenario(Short(Policy::kFair, 4));
  EXPECT_EQ(once.staleness_p99_s, again.staleness_p99_s);
  EXPECT_EQ(once.requests_per_batch, again.requests_per_batch);
}

TEST(RunScenarioTest, LoneProducerCommitsEachBatchWithOnePutOfAManifest) {
  const ScaleRow row = RunScenario(Short(Policy::kFair, 1));
  EXPECT_EQ(row.ingest_ratio, 1);
  EXPECT_EQ(row.manifest_puts_per_commit, 1);
  EXPECT_EQ(row.starved, 0u);
  EXPECT_LT(row.staleness_p50_s, 0.2);
  // The payload's PUT, a look for a successor, the manifest's PUT; a few commits take two batches.
  EXPECT_LE(row.requests_per_batch, 3);
  EXPECT_GT(row.requests_per_batch, 2);
}

TEST(RunScenarioTest, OnAGrownManifestALoneProducerCommitsAsEver) {
  Scenario scenario = Short(Policy::kDefault, 1);
  scenario.steps = 200'000;
  const ScaleRow row = RunScenario(scenario);
  EXPECT_EQ(row.ingest_ratio, 1);
  EXPECT_EQ(row.manifest_puts_per_commit, 1);
}

TEST(RunScenarioTest, ProducersThatCommitTooOftenLoseEachOthersRaces) {
  const ScaleRow fixed = RunScenario(Short(Policy::kFixed, 64));
  const ScaleRow fair = RunScenario(Short(Policy::kFair, 64));
  EXPECT_GT(fixed.manifest_puts_per_commit, 2);
  EXPECT_LT(fair.manifest_puts_per_commit, fixed.manifest_puts_per_commit);
}

TEST(RunScenarioTest, AStoreThatIsDownShowsInTheStaleness) {
  Scenario scenario = Short(Policy::kFair, 4);
  scenario.outages = {{.from = seconds(30), .until = seconds(50), .part = ""}};
  scenario.drain = seconds(60);  // A request that hangs is given up after half a minute.
  const ScaleRow row = RunScenario(scenario);
  EXPECT_EQ(row.ingest_ratio, 1);
  EXPECT_GT(row.longest_wait_s, 15);
}

Scenario InTrouble(Trouble trouble, Policy policy = Policy::kDefault) {
  Scenario scenario = Short(policy, 8);
  scenario.trouble = trouble;
  scenario.window = seconds(120);
  scenario.drain = seconds(90);
  return scenario;
}

// Covers E4.
TEST(RunScenarioTest, UnderEveryLawWhatAStoreRefusedOrDidNotAnswerIsCommittedLater) {
  for (const Policy policy : {Policy::kDefault, Policy::kFair, Policy::kFixed, Policy::kAimd}) {
    for (const Trouble trouble : {Trouble::kThrottled, Trouble::kOutage}) {
      const ScaleRow row = RunScenario(InTrouble(trouble, policy));
      EXPECT_EQ(row.ingest_ratio, 1) << PolicyName(policy) << " " << TroubleName(trouble);
      // No storm: who is refused waits longer each time.
      EXPECT_LT(row.requests_per_batch, 40) << PolicyName(policy) << " " << TroubleName(trouble);
      EXPECT_GT(row.longest_wait_s, trouble == Trouble::kOutage ? 50 : 0);
    }
  }
}

TEST(RunScenarioTest, ProducersThatAreKilledComeBackAndGoOn) {
  const ScaleRow row = RunScenario(InTrouble(Trouble::kRestarts));
  EXPECT_EQ(row.ingest_ratio, 1);
  EXPECT_GT(row.all_open_s, 0);
  EXPECT_LT(row.all_open_s, 10);
}

TEST(RunScenarioTest, ANewStreamOpensForAllAtOnce) {
  Scenario scenario = InTrouble(Trouble::kOpenings);
  scenario.producers = 100;
  const ScaleRow row = RunScenario(scenario);
  EXPECT_EQ(row.ingest_ratio, 1);
  EXPECT_GT(row.all_open_s, 0);
  EXPECT_LT(row.all_open_s, 10);
}

TEST(RunScenarioTest, NobodyWaitsForThoseWhoAreNotLikeTheOthers) {
  const ScaleRow even = RunScenario(InTrouble(Trouble::kNone));
  for (const Trouble trouble : {Trouble::kLognormal, Trouble::kBursts, Trouble::kMisfits}) {
    const ScaleRow row = RunScenario(InTrouble(trouble));
    EXPECT_EQ(row.ingest_ratio, 1) << TroubleName(trouble);
    EXPECT_LE(row.median_wait_s, 3 * even.median_wait_s) << TroubleName(trouble);
  }
}

// What is asked for where the store can give it: more attempts, earlier.
TEST(RunScenarioTest, WhoAsksForItIsCommittedEarlier) {
  Scenario scenario = InTrouble(Trouble::kNone);
  scenario.producers = 32;
  scenario.window = seconds(600);
  const ScaleRow unasked = RunScenario(scenario);
  scenario.trouble = Trouble::kHurried;
  const ScaleRow asked = RunScenario(scenario);
  EXPECT_EQ(asked.ingest_ratio, 1);
  EXPECT_GT(unasked.late_share, 0);
  EXPECT_LT(asked.late_share, unasked.late_share);
}

// As RunScenario() reports one that keeps all; a case changes one key.
nlohmann::ordered_json GoodRow() {
  return {{"policy", "default"}, {"producers", 64},      {"steps", 0},
          {"ingest_ratio", 1},   {"starved", 0},         {"longest_wait_s", 3},
          {"median_wait_s", 1},  {"staleness_p99_s", 1}, {"manifest_puts_per_commit", 1}};
}

TEST(PromisesTest, NameWhatARowDoesNotKeep) {
  EXPECT_EQ(Missed(GoodRow()), "");
  const std::pair<std::string, double> cases[] = {{"ingest_ratio", 0.98},
                                                  {"starved", 1},
                                                  {"longest_wait_s", 9.5},
                                                  {"staleness_p99_s", 2.2},
                                                  {"manifest_puts_per_commit", 2.2},
                                                  {"all_open_s", 61},
                                                  {"all_open_s", -1}};
  for (const auto& [key, value] : cases) {
    nlohmann::ordered_json row = GoodRow();
    row[key] = value;
    EXPECT_EQ(Missed(row), key);
    row["policy"] = "fair";  // Nobody promises anything of the others.
    EXPECT_EQ(Missed(row), "");
  }
}

TEST(PromisesTest, OneOfTheSlowestRequestsIsNobodysFault) {
  nlohmann::ordered_json row = GoodRow();
  row["longest_wait_s"] = 8.5;
  EXPECT_EQ(Missed(row), "");
}

TEST(PromisesTest, TroubleAndGrownManifestsHaveTheirOwn) {
  const auto missed = [](const char* trouble, const char* key, double value) {
    nlohmann::ordered_json row = GoodRow();
    row["trouble"] = trouble;
    row[key] = value;
    return Missed(row);
  };
  EXPECT_EQ(missed("outage", "starved", 64), "");
  EXPECT_EQ(missed("outage", "longest_wait_s", 99), "");
  EXPECT_EQ(missed("outage", "longest_wait_s", 101), "longest_wait_s");
  for (const char* trouble : {"throttled", "misfits", "restarts"}) {
    EXPECT_EQ(missed(trouble, "starved", 1), "starved");
    EXPECT_EQ(missed(trouble, "staleness_p99_s", 3), "");
  }
  EXPECT_EQ(missed("misfits", "longest_wait_s", 9.5), "longest_wait_s");
  EXPECT_EQ(missed("none of them", "ingest_ratio", 0.9), "ingest_ratio");
  nlohmann::ordered_json row = GoodRow();
  row["steps"] = 1'000'000;
  row["staleness_p99_s"] = 2.05;
  EXPECT_EQ(Missed(row), "");
  row["staleness_p99_s"] = 2.2;
  EXPECT_EQ(Missed(row), "staleness_p99_s");
}

TEST(TallyTest, WhoIsStoppedDoesNotStarve) {
  Scheduler scheduler;
  Tally tally({.producers = 2, .warmup = seconds(0), .window = seconds(100)}, scheduler);
  tally.Excuse(0);
  scheduler.At(seconds(1), [&] { tally.OnUpload(0, 1); });
  scheduler.At(seconds(5), [&] { tally.OnUpload(1, 1); });
  scheduler.At(seconds(71), [&] { tally.End(); });
  while (scheduler.RunOne()) {
  }
  ScaleRow row;
  tally.FillIn(row);
  EXPECT_EQ(row.starved, 1u);
  EXPECT_EQ(row.longest_wait_s, 66);
  EXPECT_EQ(row.median_wait_s, 66);
}

TEST(TallyTest, TellsWhatCameLaterThanItWasAskedFor) {
  Scheduler scheduler;
  Tally tally({.producers = 2, .warmup = seconds(0), .window = seconds(100)}, scheduler);
  tally.Hurry(0);
  scheduler.At(seconds(1), [&] {
    for (const uint64_t seq : {1, 2, 3, 4}) tally.OnUpload(0, seq);
    tally.OnUpload(1, 1);
  });
  const auto commit = [&](size_t producer, uint64_t seq) {
    tally.OnCommit({{.producer = LabProducerName(producer), .seq = seq}});
  };
  scheduler.At(seconds(1) + kHurriedStaleness, [&] {
    for (const uint64_t seq : {1, 2, 3}) commit(0, seq);
  });
  scheduler.At(seconds(2) + kHurriedStaleness, [&] {
    commit(0, 4);
    commit(1, 1);  // Of who did not ask.
  });
  while (scheduler.RunOne()) {
  }
  ScaleRow row;
  tally.FillIn(row);
  EXPECT_EQ(row.late_share, 0.25);
}

TEST(TallyTest, WhoIsKilledHasNothingPending) {
  Scheduler scheduler;
  Tally tally({.producers = 1, .warmup = seconds(0), .window = seconds(100)}, scheduler);
  scheduler.At(seconds(1), [&] { tally.OnUpload(0, 1); });
  scheduler.At(seconds(3), [&] { tally.OnKill(0); });
  scheduler.At(seconds(99), [&] { tally.End(); });
  while (scheduler.RunOne()) {
  }
  ScaleRow row;
  tally.FillIn(row);
  EXPECT_EQ(row.ingest_ratio, 1);
  EXPECT_EQ(row.longest_wait_s, 2);
  EXPECT_EQ(row.starved, 0u);
}

TEST(TallyTest, TellsStalenessSharesAndStarvation) {
  Scheduler scheduler;
  Tally tally({.producers = 2, .warmup = seconds(0), .window = seconds(100)}, scheduler);
  scheduler.At(seconds(1), [&] {
    tally.OnUpload(0, 1);
    tally.OnUpload(1, 1);
  });
  scheduler.At(seconds(3), [&] { tally.OnCommit({{.producer = LabProducerName(0), .seq = 1}}); });
  scheduler.At(seconds(71), [&] { tally.End(); });
  while (scheduler.RunOne()) {
  }
  ScaleRow row;
  tally.FillIn(row);
  EXPECT_EQ(row.ingest_ratio, 0.5);
  EXPECT_EQ(row.staleness_p99_s, 70);  // Never committed: as long as it waits.
  EXPECT_EQ(row.longest_wait_s, 70);
  EXPECT_EQ(row.starved, 1u);
  EXPECT_EQ(row.jain, 0.5);
}

TEST(LabServerTest, OneCreatorWinsAndEveryRequestIsCounted) {
  Scheduler scheduler;
  Network network(scheduler, S3Standard(), /*limits_share=*/1, 1);
  LabServer server(scheduler, network);
  const auto bytes = std::make_shared<const Bytes>(ToBytes("a"));
  EXPECT_THAT(server.Put("lab/1/manifest/1", bytes, PutMode::kCreate), IsOk());
  EXPECT_THAT(server.Put("lab/1/manifest/1", bytes, PutMode::kCreate), IsError(ErrorCode::kAlreadyExists));
  server.Ask(kCallCreate, "lab/1/manifest/1", 1);
  server.Ask(kCallCreate, "lab/1/intent/a/1", 1);
  server.Ask(kCallStat, "lab/1/manifest/1", 0);
  server.Ask(kCallList, "lab/1/manifest/", 0);
  EXPECT_EQ(server.requests().puts, 2u);
  EXPECT_EQ(server.requests().manifest_puts, 1u);
  EXPECT_EQ(server.requests().intent_puts, 1u);
  EXPECT_EQ(server.requests().all(), 4u);
  EXPECT_NEAR(Dollars(S3Standard(), server.requests()), 3 * 5e-6 + 4e-7, 1e-12);
}

TEST(LabServerTest, ListComesInPages) {
  Scheduler scheduler;
  Network network(scheduler, S3Standard(), /*limits_share=*/1, 1);
  LabServer server(scheduler, network);
  LabBackdoor store(server);
  for (const char* key : {"a/1", "a/2", "a/3", "b/1"}) EXPECT_THAT(PutBytes(store, key, {}, PutMode::kCreate), IsOk());
  const ListPage first = *store.List("a/", "", 2);
  ASSERT_EQ(first.objects.size(), 2u);
  const ListPage second = *store.List("a/", first.next_start_after, 2);
  ASSERT_EQ(second.objects.size(), 1u);
  EXPECT_EQ(second.objects[0].key, "a/3");
  EXPECT_EQ(second.next_start_after, "");
}

TEST(LabClientTest, SlowReadsAreAskedForASecondTimeAtMostOneInTwenty) {
  Scheduler scheduler;
  StoreProfile profile = S3Standard();
  profile.get.straggler_share = 0.01;
  Network network(scheduler, profile, /*limits_share=*/1, 1);
  LabServer server(scheduler, network);
  LabBackdoor backdoor(server);
  ASSERT_THAT(PutBytes(backdoor, "a", {}, PutMode::kCreate), IsOk());
  Server unused(scheduler, /*ordered_list=*/true);
  Trace trace;
  const std::function<void(Process&, double)> at_worst_moment = [](Process&, double) {};
  Process process({scheduler, unused, network, trace, at_worst_moment}, "reader", 1, {}, /*retries=*/false);
  LabClient client(server, process);
  constexpr uint64_t kReads = 3000;
  int slow = 0;
  process.Run([&] {
    for (uint64_t i = 0; i < kReads; ++i) {
      const SimTime began = scheduler.now();
      Bytes buffer(1);
      ReadRequest request{.key = "a", .buffer = buffer};
      EXPECT_THAT(client.Get({&request, 1}), IsOk());
      slow += scheduler.now() - began > 8 * profile.get.median ? 1 : 0;
    }
  });
  while (!process.idle()) ASSERT_TRUE(scheduler.RunOne());
  EXPECT_LT(slow, 10) << "of some 30 that straggle";
  EXPECT_GT(server.requests().gets, kReads + kReads / 40);
  EXPECT_LE(server.requests().gets, kReads + kReads / 20);
}

TEST(ForkEachTest, BeginsNothingThatDoesNotFit) {
  // Of the pieces that run: how much they take, and the most that it was.
  struct Taken {
    std::atomic<uint64_t> now;
    std::atomic<uint64_t> most;
  };
  void* const shared = mmap(nullptr, sizeof(Taken), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* const taken = new (shared) Taken{};
  const std::vector<uint64_t> bytes{6, 6, 9, 1, 6, 1};
  const auto work = [&](size_t i) {
    const uint64_t now = taken->now += bytes[i];
    for (uint64_t most = taken->most; most < now && !taken->most.compare_exchange_weak(most, now);) {
    }
    SystemClock clock;
    clock.SleepUntil(After(clock.Now(), std::chrono::milliseconds(20)));
    taken->now -= bytes[i];
    return std::string("done");
  };
  const auto answers = ForkEach(bytes, {.jobs = 3, .memory_bytes = 8}, work, [](size_t, const std::string&) {});
  EXPECT_THAT(answers, ::testing::Each(std::optional<std::string>("done")));
  EXPECT_LE(taken->most, 9u) << "what is larger than all that there is runs alone";
  munmap(shared, sizeof(Taken));
}

TEST(ForkEachTest, BeginsWhatFitsBesideWhatRuns) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  // The first ends only when the third has run; the second does not fit beside it.
  const auto work = [&](size_t i) {
    char byte = 0;
    const ssize_t moved = i == 0 ? read(ends[0], &byte, 1) : i == 2 ? write(ends[1], &byte, 1) : 1;
    return std::string(moved == 1 ? "done" : "failed");
  };
  const auto answers = ForkEach({6, 6, 1}, {.jobs = 2, .memory_bytes = 8}, work, [](size_t, const std::string&) {});
  EXPECT_THAT(answers, ::testing::Each(std::optional<std::string>("done")));
  close(ends[0]);
  close(ends[1]);
}

TEST(ForkEachTest, TellsAllAnswersAndWhoDied) {
  size_t told = 0;
  const auto work = [](size_t i) {
    if (i == 1) _exit(3);
    return std::string(100'000, static_cast<char>('a' + i));
  };
  const auto answers = ForkEach({0, 0, 0}, {.jobs = 2}, work, [&](size_t, const std::string&) { told += 1; });
  EXPECT_EQ(answers[0], std::string(100'000, 'a'));
  EXPECT_FALSE(answers[1].has_value());
  EXPECT_EQ(answers[2], std::string(100'000, 'c'));
  EXPECT_EQ(told, 2u);
}

}  // namespace
}  // namespace batchweave::sim
