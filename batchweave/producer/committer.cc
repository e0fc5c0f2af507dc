#include "batchweave/producer/committer.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "batchweave/base/fault_point.h"
#include "batchweave/base/mutation.h"
#include "batchweave/log/archive_history.h"
#include "batchweave/log/change.h"

namespace batchweave {
namespace {

// One call tries a slot no longer than this before it reports that it is undecided, and the next call goes on: so long may
// the end of a process have to wait for it.
constexpr Duration kResolveTime = std::chrono::seconds(5);

// Entries from the newest that tell who else commits: more than the committers that one log can carry alone.
constexpr size_t kRecentEntries = 256;

constexpr Duration kRetryDelayFirst = std::chrono::milliseconds(50);
constexpr Duration kRetryDelayMax = std::chrono::seconds(5);

// What a loser must not do.
void CleanUp(ManifestLog& log, const CollectedRuns& lost) {
  std::vector<std::string> keys;
  for (const CommitRun& run : lost.runs) {
    for (const Entry& entry : run.entries) {
      for (const Part& part : entry.parts) {
        keys.push_back(log.keys().Data(entry.producer, entry.incarnation, entry.seq, part.nonce));
      }
    }
  }
  if (!keys.empty()) static_cast<void>(log.env().store.Delete(keys));
}

}  // namespace

Committer::Committer(Env env, ManifestLog& log, Pipeline& pipeline, CommitLaw& law)
    : env_(env), log_(log), pipeline_(pipeline), law_(law) {}

void Committer::CommitOnce() {
  if (!attempt_) AwaitTurn();
  Backoff(Attempt());
}

void Committer::AwaitTurn() {
  while (true) {
    const CommitLaw::Decision decision = law_.Decide(env_.clock.Now());
    if (decision.at > env_.clock.Now()) pipeline_.SleepUntil(decision.at);
    if (decision.action == CommitLaw::Action::kTry || !base_) return;
    Result<LoggedManifest> seen = log_.Refresh(*base_);
    if (!seen.ok()) return;  // The attempt will meet it again, and report it.
    See(*std::move(seen));
  }
}

Result<void> Committer::Attempt() {
  if (!attempt_) BW_TRY(Begin());
  if (!attempt_) return {};  // Nothing of it was accepted: the producers know.
  const Duration time = BW_MUTATION(kMovesOnWhileUndecided) ? Duration{} : kResolveTime;
  const Result<PendingCommit::Outcome> outcome = attempt_->Resolve(After(env_.clock.Now(), time));
  if (FailedWith(outcome, ErrorCode::kUnknownOutcome)) {
    if (BW_MUTATION(kMovesOnWhileUndecided)) base_ = std::exchange(attempt_, std::nullopt)->committed();
    if (BW_MUTATION(kNewBodyForTheSlot)) BW_TRY(FreezeAgain());
    return outcome.error();
  }
  const PendingCommit decided = *std::exchange(attempt_, std::nullopt);
  const bool won = outcome.ok() && *outcome == PendingCommit::Outcome::kCommitted;
  law_.OnAttempt(attempt_began_, env_.clock.Now(), won, NextUnit(env_.random));
  if (!outcome.ok()) return outcome.error();
  pipeline_.CountCommit(won);
  if (BW_MUTATION(kLoserCleansUp) && !won) CleanUp(log_, attempted_);
  if (!won) return {};  // The next attempt begins from the newest version.
  BW_FAULT_POINT("batches.committed");
  base_ = decided.committed();
  pipeline_.Acknowledge(attempted_, verdicts_);
  return {};
}

// Reads what to build on, and freezes an attempt of what is uploaded now. Leaves none where nothing is accepted.
Result<void> Committer::Begin() {
  attempt_began_ = env_.clock.Now();
  LoggedManifest newest = base_ ? BW_TRY(log_.Refresh(*base_)) : BW_TRY(log_.ReadNewest());
  if (BW_MUTATION(kBatchesNotRebased) && base_) {
    base_->manifest.version = newest.manifest.version;
    newest.manifest = base_->manifest;
  }
  See(std::move(newest));
  attempted_ = pipeline_.CollectRuns();
  Manifest next = BW_TRY(BeginNext(*base_));
  std::vector<std::string> names;
  for (const CommitRun& run : attempted_.runs) names.push_back(run.producer);
  BW_TRY(BringRows(log_, row_table_, names, next));
  CommitPlan plan = PlanCommit(std::move(next), attempted_.runs, env_.clock.WallNow().count());
  verdicts_ = std::move(plan.verdicts);
  if (plan.changes) {
    BW_TRY(ArchiveHistory(log_, plan.next, After(env_.clock.Now(), kResolveTime)));
    attempt_.emplace(log_, *base_, std::move(plan.next));
    return {};
  }
  // What the rows cover already was committed, though this process was never told: acknowledged is acknowledged.
  pipeline_.Acknowledge(attempted_, verdicts_);
  return {};
}

// The slot is tried with what is uploaded by now, and the commit id that it was tried with before.
Result<void> Committer::FreezeAgain() {
  const CommitId commit_id = attempt_->committed().manifest.commit_id;
  attempted_ = pipeline_.CollectRuns();
  CommitPlan plan = PlanCommit(BW_TRY(BeginNext(*base_)), attempted_.runs, env_.clock.WallNow().count());
  verdicts_ = std::move(plan.verdicts);
  plan.next.commit_id = commit_id;
  attempt_.emplace(log_, *base_, std::move(plan.next));
  return {};
}

void Committer::See(LoggedManifest version) {
  const bool moved = !base_ || base_->manifest.version != version.manifest.version;
  base_ = std::move(version);
  const std::unordered_set<std::string> ours = pipeline_.Names();
  std::unordered_set<std::string_view> others;
  const std::vector<Entry>& tail = base_->manifest.tail;
  for (size_t i = tail.size() - std::min(tail.size(), kRecentEntries); i < tail.size(); ++i) {
    if (!ours.contains(tail[i].producer)) others.insert(tail[i].producer);
  }
  law_.OnVersionSeen(env_.clock.Now(), others.size(), moved);
}

void Committer::Backoff(const Result<void>& result) {
  if (result.ok()) {
    retry_delay_ = {};
    return;
  }
  pipeline_.ReportFailure(result.error());
  retry_delay_ = std::clamp(retry_delay_ * 2, kRetryDelayFirst, kRetryDelayMax);
  pipeline_.SleepUntil(After(env_.clock.Now(), retry_delay_));
}

}  // namespace batchweave
