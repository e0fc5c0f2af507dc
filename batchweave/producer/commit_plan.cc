#include "batchweave/producer/commit_plan.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/base/mutation.h"
#include "batchweave/log/dead_keys.h"
#include "batchweave/log/producer_rows.h"

namespace batchweave {
namespace {

// Appends what the row does not cover yet. True where that changed anything.
bool Take(Manifest& manifest, const CommitRun& run, int64_t committed_at_ns) {
  ProducerRow& row = *FindRow(manifest, run.producer);
  bool changed = false;
  for (const Entry& entry : run.entries) {
    const bool is_checked = !BW_MUTATION(kUnknownTakenForLost) && !BW_MUTATION(kSeqNotChecked);
    if (entry.seq <= row.seq && is_checked) continue;
    // I5: no gap.
    BW_CHECK(entry.seq == row.seq + 1 || BW_ANY_MUTATION);
    manifest.tail.push_back(entry);
    manifest.tail.back().committed_at_ns = committed_at_ns;
    row.seq = entry.seq;
    row.step = manifest.next_step;
    if (!BW_MUTATION(kCursorOutlivesItsBatch)) row.cursor.reset();  // The entry at row.step has it.
    manifest.next_step = manifest.next_step + 1;
    changed = true;
  }
  if (run.finish && row.seq == run.last_seq() && row.state == ProducerRow::State::kOpen) {
    row.state = run.forget ? ProducerRow::State::kForgotten : ProducerRow::State::kFinished;
    changed = true;
  }
  return changed;
}

bool IsKnown(uint64_t writer_features) { return (writer_features & ~kKnownWriterFeatures) == 0; }

// Drawn on a version that knew no later incarnation of its producer than the row has, and not too long ago.
bool IsOpeningTaken(const Manifest& next, const OpeningIntent& opening) {
  if (next.sealed || !IsKnown(opening.writer_features)) return false;
  const ProducerRow* row = FindRow(next, opening.producer);
  if (row != nullptr && row->state != ProducerRow::State::kOpen && !opening.reopen) return false;
  return !IsOpeningDead(next, row, opening.base);
}

// Before any batches: a version that opens a producer takes nothing of the holder before. One opening a producer, since
// its row is then past the bases of all others; that with the largest base, or the sleeper's would keep the newer out.
size_t TakeOpenings(Manifest& next, std::vector<OpeningIntent> openings) {
  size_t taken = 0;
  std::ranges::sort(openings, std::greater(), &OpeningIntent::base);
  for (const OpeningIntent& opening : openings) {
    if (!IsOpeningTaken(next, opening)) continue;
    TakeOpening(next, opening.nonce, FindOrAddRow(next, opening.producer));
    taken += 1;
  }
  return taken;
}

CommitRun RunOf(const BatchIntent& intent) {
  return {.producer = intent.producer,
          .incarnation = intent.incarnation,
          .entries = intent.entries,
          .committed_seq = intent.last_seq,
          .finish = intent.finish,
          .forget = intent.forget};
}

}  // namespace

Verdict JudgeRun(const Manifest& manifest, const CommitRun& run) {
  const ProducerRow* row = FindRow(manifest, run.producer);
  // I6. Fenced before sealed: a fenced producer must never hear of its successor's fate as its own.
  if (row == nullptr) return Verdict::kFenced;
  const bool covered = !run.entries.empty() && run.entries.back().seq <= row->seq;
  if (BW_MUTATION(kAckBySeqAlone) && covered) return Verdict::kTaken;
  if (row->incarnation != run.incarnation && !BW_MUTATION(kIncarnationNotChecked)) return Verdict::kFenced;
  const bool finished = row->state != ProducerRow::State::kOpen;
  // By another, who took the announcement: under one's own incarnation nobody else can have wished it.
  if (finished && run.finish && row->seq == run.last_seq()) return Verdict::kTaken;
  if (finished) return Verdict::kFenced;
  // The row stands behind what was committed under it: a history that this process has no part in, as when a folder was
  // restored, or sleepers go on with a stream that was deleted.
  const bool is_behind = run.first_seq() > row->seq + 1;
  if (is_behind && !BW_ANY_MUTATION) return Verdict::kFenced;
  const bool sealed = manifest.sealed && !BW_MUTATION(kSealNotChecked);
  if (sealed && !run.entries.empty() && !covered) return Verdict::kSealed;
  return Verdict::kTaken;
}

void TakeOpening(const Manifest& next, uint64_t nonce, ProducerRow& row) {
  if (BW_MUTATION(kSeqBeginsAnew)) row = {.producer = row.producer};
  const bool keeps = BW_MUTATION(kOpeningDoesNotFence) && row.incarnation != Incarnation{};
  if (!keeps) row.incarnation = {BW_MUTATION(kIncarnationOfTheRow) ? row.incarnation.value + 1 : next.version.value};
  row.opening_nonce = nonce;
  row.state = ProducerRow::State::kOpen;
}

CommitPlan PlanCommit(Manifest next, std::span<const CommitRun> runs, int64_t committed_at_ns,
                      const Announced& announced) {
  CommitPlan plan{.next = std::move(next), .verdicts = {}};
  plan.taken = TakeOpenings(plan.next, announced.openings);
  for (const CommitRun& run : runs) {
    plan.verdicts.push_back(JudgeRun(plan.next, run));
    if (plan.verdicts.back() == Verdict::kTaken) plan.changes |= Take(plan.next, run, committed_at_ns);
  }
  for (const BatchIntent& intent : announced.batches) {
    const CommitRun run = RunOf(intent);
    const ProducerRow* row = FindRow(plan.next, run.producer);
    const bool joins = row != nullptr && run.first_seq() <= row->seq + 1;
    if (!joins || !IsKnown(intent.writer_features)) continue;
    if (JudgeRun(plan.next, run) != Verdict::kTaken) continue;
    if (Take(plan.next, run, committed_at_ns)) plan.taken += 1;
  }
  plan.changes |= plan.taken > 0;
  return plan;
}

}  // namespace batchweave
