#include "batchweave/producer/commit_plan.h"

#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/base/mutation.h"
#include "batchweave/log/producer_rows.h"

namespace batchweave {
namespace {

Verdict Judge(const Manifest& manifest, const CommitRun& run, const ProducerRow* row) {
  // I6. Fenced before sealed: a fenced producer must never hear of its successor's fate as its own.
  if (row == nullptr) return Verdict::kFenced;
  const bool covered = !run.entries.empty() && run.entries.back().seq <= row->seq;
  if (BW_MUTATION(kAckBySeqAlone) && covered) return Verdict::kTaken;
  if (row->incarnation != run.incarnation && !BW_MUTATION(kIncarnationNotChecked)) return Verdict::kFenced;
  if (row->state != ProducerRow::State::kOpen) return Verdict::kFenced;
  // The row stands behind what was committed under it: a history that this process has no part in, as when a folder was
  // restored, or sleepers go on with a stream that was deleted.
  const bool is_behind = !run.entries.empty() && run.entries.front().seq > row->seq + 1;
  if (is_behind && !BW_ANY_MUTATION) return Verdict::kFenced;
  const bool sealed = manifest.sealed && !BW_MUTATION(kSealNotChecked);
  if (sealed && !run.entries.empty() && !covered) return Verdict::kSealed;
  return Verdict::kTaken;
}

// Appends what the row does not cover yet. True where that changed anything.
bool Take(Manifest& manifest, const CommitRun& run, ProducerRow& row, int64_t committed_at_ns) {
  bool changed = false;
  for (const Entry& entry : run.entries) {
    const bool is_checked = !BW_MUTATION(kUnknownTakenForLost) && !BW_MUTATION(kSeqNotChecked);
    if (entry.seq <= row.seq && is_checked) continue;
    // I5: no gap. Under its own incarnation only this process commits for it.
    BW_CHECK(entry.seq == row.seq + 1 || BW_ANY_MUTATION);
    manifest.tail.push_back(entry);
    manifest.tail.back().committed_at_ns = committed_at_ns;
    row.seq = entry.seq;
    row.step = manifest.next_step;
    if (!BW_MUTATION(kCursorOutlivesItsBatch)) row.cursor.reset();  // The entry at row.step has it.
    manifest.next_step = manifest.next_step + 1;
    changed = true;
  }
  if (run.finish) {
    row.state = run.forget ? ProducerRow::State::kForgotten : ProducerRow::State::kFinished;
    changed = true;
  }
  return changed;
}

}  // namespace

CommitPlan PlanCommit(Manifest next, std::span<const CommitRun> runs, int64_t committed_at_ns) {
  CommitPlan plan{.next = std::move(next), .verdicts = {}};
  for (const CommitRun& run : runs) {
    ProducerRow* row = FindRow(plan.next, run.producer);
    const Verdict verdict = Judge(plan.next, run, row);
    plan.verdicts.push_back(verdict);
    if (verdict == Verdict::kTaken && Take(plan.next, run, *row, committed_at_ns)) plan.changes = true;
  }
  return plan;
}

}  // namespace batchweave
