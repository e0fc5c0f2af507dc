#include "batchweave/producer/commit_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "batchweave/log/producer_rows.h"

namespace batchweave {
namespace {

Entry Batch(std::string producer, uint64_t incarnation, uint64_t seq) {
  return {.producer = std::move(producer),
          .incarnation = {incarnation},
          .seq = seq,
          .grid = {.dp = 1, .cp = 1},
          .parts = {{.nonce = seq, .range = {0, 1, 0, 1}, .slice_bytes = {8}, .object_bytes = 128, .footer_bytes = 64}},
          .content_type = "text/plain",
          .cursor = ToBytes("after " + std::to_string(seq))};
}

CommitRun Batches(const std::string& producer, uint64_t incarnation, uint64_t first_seq, uint64_t last_seq) {
  CommitRun run{.producer = producer, .incarnation = {incarnation}, .entries = {}};
  for (uint64_t seq = first_seq; seq <= last_seq; ++seq) run.entries.push_back(Batch(producer, incarnation, seq));
  return run;
}

// A version in which `a` is open in incarnation 1 with nothing committed, and `b` in incarnation 2 with seq 5 at step 0.
Manifest Base() {
  Manifest base{.version = {9}, .next_step = {1}};
  base.tail = {Batch("b", 2, 5)};
  base.rows = {{.producer = "a", .incarnation = {1}}, {.producer = "b", .incarnation = {2}, .seq = 5, .step = Step{0}}};
  return base;
}

// Covers I3, I5.
TEST(CommitPlanTest, RunsAreAppendedInOrderAndTheRowFollows) {
  const CommitRun runs[] = {Batches("a", 1, 1, 3), Batches("b", 2, 6, 6)};
  const CommitPlan plan = PlanCommit(Base(), runs, 77);
  EXPECT_TRUE(plan.changes);
  EXPECT_EQ(plan.verdicts, (std::vector{Verdict::kTaken, Verdict::kTaken}));
  EXPECT_EQ(plan.next.next_step, Step{5});
  EXPECT_EQ(plan.next.tail_first(), Step{0});
  EXPECT_EQ(FindRow(plan.next, "a")->seq, 3u);
  EXPECT_EQ(FindRow(plan.next, "a")->step, Step{3});
  EXPECT_EQ(FindRow(plan.next, "b")->step, Step{4});
  EXPECT_EQ(plan.next.tail.back().committed_at_ns, 77);
  EXPECT_FALSE(FindRow(plan.next, "a")->cursor);  // The entry has it.
}

BatchIntent Intent(const std::string& producer, uint64_t incarnation, uint64_t first_seq, uint64_t last_seq) {
  CommitRun run = Batches(producer, incarnation, first_seq, last_seq);
  return {.producer = producer, .incarnation = {incarnation}, .last_seq = last_seq, .entries = std::move(run.entries)};
}

// Covers I5.
TEST(CommitPlanTest, WhatOthersAnnouncedIsTakenByTheSameRules) {
  const CommitPlan plan = PlanCommit(Base(), {}, 77, {.batches = {Intent("a", 1, 1, 2), Intent("b", 2, 4, 6)}});
  EXPECT_TRUE(plan.changes);
  EXPECT_EQ(plan.taken, 2u);
  EXPECT_EQ(FindRow(plan.next, "a")->seq, 2u);
  EXPECT_EQ(FindRow(plan.next, "b")->seq, 6u);  // 4 and 5 were covered.
  EXPECT_EQ(plan.next.next_step, Step{4});
}

TEST(CommitPlanTest, AnAnnouncementIsTakenOnceHoweverOftenItIsMet) {
  const Announced twice{.batches = {Intent("a", 1, 1, 2), Intent("a", 1, 1, 1), Intent("a", 1, 1, 2)}};
  const CommitPlan plan = PlanCommit(Base(), {}, 0, twice);
  EXPECT_EQ(plan.taken, 1u);
  EXPECT_EQ(plan.next.next_step, Step{3});
  const CommitPlan again = PlanCommit(plan.next, {}, 0, twice);
  EXPECT_FALSE(again.changes);
  EXPECT_EQ(again.next, plan.next);
}

// Covers I6, M9, M16.
TEST(CommitPlanTest, AnnouncementsOfWhoIsFencedFinishedAheadOrUnknownArePassedOver) {
  Manifest finished = Base();
  finished.rows[1].state = ProducerRow::State::kFinished;
  Manifest sealed = Base();
  sealed.sealed = true;
  BatchIntent newer = Intent("a", 1, 1, 1);
  newer.writer_features = uint64_t{1} << 40;
  for (const auto& [base, intent] : {std::pair(Base(), Intent("b", 1, 6, 6)), std::pair(finished, Intent("b", 2, 6, 6)),
                                     std::pair(sealed, Intent("b", 2, 6, 6)), std::pair(Base(), Intent("b", 2, 7, 7)),
                                     std::pair(Base(), Intent("nobody", 2, 1, 1)), std::pair(Base(), newer)}) {
    const CommitPlan plan = PlanCommit(base, {}, 0, {.batches = {intent}});
    EXPECT_FALSE(plan.changes) << intent.producer << " " << intent.last_seq;
    EXPECT_EQ(plan.next, base);
  }
}

TEST(CommitPlanTest, AnAnnouncedEndIsTakenOnceAllBeforeItIs) {
  BatchIntent end = Intent("a", 1, 1, 1);
  end.finish = true;
  EXPECT_EQ(FindRow(PlanCommit(Base(), {}, 0, {.batches = {end}}).next, "a")->state, ProducerRow::State::kFinished);
  const BatchIntent early{.producer = "a", .incarnation = {1}, .last_seq = 3, .finish = true};
  EXPECT_FALSE(PlanCommit(Base(), {}, 0, {.batches = {early}}).changes);
  // Who wished it may ask again.
  const CommitPlan plan = PlanCommit(Base(), {}, 0, {.batches = {end}});
  CommitRun run = Batches("a", 1, 1, 1);
  run.finish = true;
  EXPECT_EQ(PlanCommit(plan.next, {&run, 1}, 0).verdicts, std::vector{Verdict::kTaken});
}

OpeningIntent Opening(const std::string& producer, uint64_t base, uint64_t nonce) {
  return {.producer = producer, .base = {base}, .nonce = nonce};
}

// Covers I6.
TEST(CommitPlanTest, OneOpeningAProducerIsTakenTheOneOfTheLargestBase) {
  const CommitPlan plan =
      PlanCommit(Base(), {}, 0,
                 {.openings = {Opening("b", 5, 50), Opening("b", 8, 80), Opening("b", 7, 70), Opening("c", 8, 81)}});
  EXPECT_EQ(plan.taken, 2u);
  EXPECT_EQ(FindRow(plan.next, "b")->opening_nonce, 80u);
  EXPECT_EQ(FindRow(plan.next, "b")->incarnation, Incarnation{9});
  EXPECT_EQ(FindRow(plan.next, "b")->seq, 5u);
  EXPECT_EQ(FindRow(plan.next, "c")->incarnation, Incarnation{9});
}

// Covers I6.
TEST(CommitPlanTest, AVersionThatOpensAProducerTakesNothingOfTheHolderBefore) {
  const CommitRun own = Batches("b", 2, 6, 6);
  const CommitPlan plan = PlanCommit(Base(), {&own, 1}, 0, {.openings = {Opening("b", 8, 80)}});
  EXPECT_EQ(plan.verdicts, std::vector{Verdict::kFenced});
  EXPECT_EQ(FindRow(plan.next, "b")->seq, 5u);
}

// Covers I6.
TEST(CommitPlanTest, AnOpeningThatCameTooLateIsPassedOver) {
  Manifest old = Base();
  old.version = {2000};
  Manifest finished = Base();
  finished.rows[1].state = ProducerRow::State::kFinished;
  Manifest sealed = Base();
  sealed.sealed = true;
  for (const auto& [base, opening] : {std::pair(Base(), Opening("b", 1, 9)), std::pair(old, Opening("b", 900, 9)),
                                      std::pair(finished, Opening("b", 8, 9)), std::pair(sealed, Opening("c", 8, 9))}) {
    EXPECT_FALSE(PlanCommit(base, {}, 0, {.openings = {opening}}).changes) << opening.base.value;
  }
  OpeningIntent again = Opening("b", 8, 9);
  again.reopen = true;
  EXPECT_TRUE(PlanCommit(finished, {}, 0, {.openings = {again}}).changes);
}

// Covers I6, C3.
TEST(CommitPlanTest, OlderIncarnationIsFencedAndNothingOfItIsTaken) {
  const CommitRun runs[] = {Batches("b", 1, 6, 7)};
  const CommitPlan plan = PlanCommit(Base(), runs, 0);
  EXPECT_EQ(plan.verdicts, std::vector{Verdict::kFenced});
  EXPECT_FALSE(plan.changes);
  EXPECT_EQ(plan.next, Base());
}

// As where a folder was restored from an older copy, or sleepers go on with a deleted stream; found by the simulator.
// Covers I5.
TEST(CommitPlanTest, HistoryThatStandsBehindWhatWasCommittedIsNotGoneOnWith) {
  const CommitRun runs[] = {Batches("b", 2, 7, 8)};
  const CommitPlan plan = PlanCommit(Base(), runs, 0);
  EXPECT_EQ(plan.verdicts, std::vector{Verdict::kFenced});
  EXPECT_EQ(plan.next, Base());
}

// Covers M2.
TEST(CommitPlanTest, FencedProducerDoesNotTakeItsSuccessorsSeqForItsOwn) {
  // The successor committed seq 5; the zombie of incarnation 1 has its own 5 pending.
  const CommitRun runs[] = {Batches("b", 1, 5, 5)};
  EXPECT_EQ(PlanCommit(Base(), runs, 0).verdicts, std::vector{Verdict::kFenced});
}

// Covers C1.
TEST(CommitPlanTest, SeqThatIsCommittedAlreadyIsNotCommittedAgain) {
  const CommitRun runs[] = {Batches("b", 2, 5, 6)};
  const CommitPlan plan = PlanCommit(Base(), runs, 0);
  EXPECT_EQ(plan.verdicts, std::vector{Verdict::kTaken});
  EXPECT_EQ(plan.next.next_step, Step{2});
  const CommitRun replay[] = {Batches("b", 2, 5, 5)};
  EXPECT_FALSE(PlanCommit(Base(), replay, 0).changes);
}

// Covers M9.
TEST(CommitPlanTest, SealedStreamTakesNoBatchButLetsAProducerFinish) {
  Manifest sealed = Base();
  sealed.sealed = true;
  CommitRun finish{.producer = "b", .incarnation = {2}, .entries = {}, .committed_seq = 5, .finish = true};
  const CommitRun runs[] = {Batches("a", 1, 1, 1), finish};
  const CommitPlan plan = PlanCommit(sealed, runs, 0);
  EXPECT_EQ(plan.verdicts, (std::vector{Verdict::kSealed, Verdict::kTaken}));
  EXPECT_EQ(plan.next.next_step, sealed.next_step);
  EXPECT_EQ(FindRow(plan.next, "b")->state, ProducerRow::State::kFinished);
}

TEST(CommitPlanTest, BatchAlreadyCommittedUnderASealIsAcknowledged) {
  Manifest sealed = Base();
  sealed.sealed = true;
  const CommitRun runs[] = {Batches("b", 2, 5, 5)};
  EXPECT_EQ(PlanCommit(sealed, runs, 0).verdicts, std::vector{Verdict::kTaken});
}

TEST(CommitPlanTest, FinishedProducerAndMissingRowAreFenced) {
  Manifest base = Base();
  base.rows[0].state = ProducerRow::State::kFinished;
  const CommitRun runs[] = {Batches("a", 1, 1, 1), Batches("nobody", 3, 1, 1)};
  EXPECT_EQ(PlanCommit(base, runs, 0).verdicts, (std::vector{Verdict::kFenced, Verdict::kFenced}));
}

TEST(CommitPlanTest, FinishIsMarkedInTheVersionOfTheLastBatch) {
  CommitRun run = Batches("a", 1, 1, 2);
  run.finish = true;
  const CommitPlan plan = PlanCommit(Base(), {&run, 1}, 0);
  EXPECT_EQ(FindRow(plan.next, "a")->state, ProducerRow::State::kFinished);
  EXPECT_EQ(plan.next.next_step, Step{3});
}

// Covers M14.
TEST(CommitPlanTest, NameThatIsUsedOnceIsMarkedSoThatItsRowMayGo) {
  CommitRun run = Batches("a", 1, 1, 1);
  run.finish = true;
  run.forget = true;
  EXPECT_EQ(FindRow(PlanCommit(Base(), {&run, 1}, 0).next, "a")->state, ProducerRow::State::kForgotten);
}

// However runs are cut and whoever is fenced in between, each producer's seqs are 1, 2, 3... in the tail.
// Covers I3, I5.
RC_GTEST_PROP(CommitPlanPropertyTest, SeqsOfAProducerHaveNoGapAndNoRepeat, ()) {
  Manifest manifest{.version = {1}};
  std::map<std::string, uint64_t> expected;
  for (const std::string name : {"p0", "p1", "p2"}) manifest.rows.push_back({.producer = name, .incarnation = {1}});
  const auto rounds = *rc::gen::inRange(1, 12);
  for (int round = 0; round < rounds; ++round) {
    std::vector<CommitRun> runs;
    for (ProducerRow& row : manifest.rows) {
      if (*rc::gen::inRange(0, 5) == 0) row.incarnation.value += 1;  // A newer holder opened it.
      const uint64_t claimed = *rc::gen::element(row.incarnation.value, row.incarnation.value - 1);
      const uint64_t replayed = *rc::gen::inRange<uint64_t>(0, std::min<uint64_t>(row.seq, 3) + 1);
      const uint64_t fresh = *rc::gen::inRange<uint64_t>(0, 4);
      runs.push_back(Batches(row.producer, claimed, row.seq - replayed + 1, row.seq + fresh));
      if (claimed == row.incarnation.value) expected[row.producer] = row.seq + fresh;
    }
    manifest = PlanCommit(manifest, runs, round).next;
  }
  std::map<std::string, uint64_t> seen;
  for (const Entry& entry : manifest.tail) RC_ASSERT(entry.seq == ++seen[entry.producer]);
  for (const ProducerRow& row : manifest.rows) {
    RC_ASSERT(row.seq == seen[row.producer]);
    RC_ASSERT(row.seq == expected[row.producer]);
  }
  RC_ASSERT(manifest.next_step.value == manifest.tail.size());
}

}  // namespace
}  // namespace batchweave
