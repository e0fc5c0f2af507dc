#include "batchweave/producer/committer.h"

#include <algorithm>
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

// `ready` but for producers that were opened after `version`, which knows nothing of them: it would have them fenced.
CollectedRuns KnownTo(Version version, CollectedRuns ready) {
  CollectedRuns known;
  for (size_t i = 0; i < ready.runs.size(); ++i) {
    if (ready.runs[i].incarnation.value > version.value) continue;
    known.runs.push_back(std::move(ready.runs[i]));
    known.producers.push_back(std::move(ready.producers[i]));
  }
  return known;
}

// What `manifest` covers of `run` already; all of it where the producer is not its holder's any more. `is_gone`, for
// kGoneTakenForCommitted: an announcement of it was not there any more.
CommitRun CoveredOf(const Manifest& manifest, CommitRun run, bool is_gone) {
  const ProducerRow* row = FindRow(manifest, run.producer);
  if (BW_MUTATION(kGoneTakenForCommitted) && is_gone) return run;
  if (row == nullptr || row->incarnation != run.incarnation) return run;
  run.finish = run.finish && row->seq == run.last_seq() && row->state != ProducerRow::State::kOpen;
  std::erase_if(run.entries, [&](const Entry& entry) { return entry.seq > row->seq; });
  if (run.entries.empty()) run.committed_seq = std::min(run.committed_seq, row->seq);
  return run;
}

}  // namespace

Committer::Committer(Env env, ManifestLog& log, Pipeline& pipeline, CommitLaw& law)
    : env_(env), log_(log), pipeline_(pipeline), law_(law), others_(log), own_(log) {}

void Committer::CommitOnce() {
  if (!attempt_) {
    const Result<bool> is_due = AwaitTurn();
    if (!is_due.ok()) return Backoff(is_due.error());
    if (!*is_due) return Backoff({});
  }
  Backoff(Attempt());
}

// True: an attempt is due. False: nothing is left to commit.
Result<bool> Committer::AwaitTurn() {
  // Who has seen nothing yet would take itself for alone, and so would each of a fleet that starts at once.
  if (seen_.version() == Version{}) BW_TRY(Look());
  while (!pipeline_.stopped()) {
    own_.KeepOnly(pipeline_.Names());
    const uint64_t ready = pipeline_.ready();
    const CollectedRuns runs = pipeline_.CollectRuns();
    if (runs.runs.empty() && !law_.serves()) return false;
    const auto lacks = [&](const CommitRun& run) { return own_.LacksSomeOf(run); };
    const CommitLaw::Pending pending{
        .announced = !own_.empty(), .unannounced = std::ranges::any_of(runs.runs, lacks), .due_at = runs.due_at};
    const CommitLaw::Decision decision = law_.Decide(env_.clock.Now(), pending);
    if (decision.at > env_.clock.Now()) {
      pipeline_.AwaitMore(decision.at, ready);
      continue;
    }
    for_all_ = decision.action == CommitLaw::Action::kTryForAll;
    switch (decision.action) {
      case CommitLaw::Action::kTry:
      case CommitLaw::Action::kTryForAll: return true;
      case CommitLaw::Action::kAnnounce: BW_TRY(Announce(runs)); break;
      case CommitLaw::Action::kAsk: BW_TRY(Ask()); break;
      case CommitLaw::Action::kLook: BW_TRY(Look()); break;
    }
  }
  return false;
}

Result<void> Committer::Announce(const CollectedRuns& runs) {
  const TimePoint began = env_.clock.Now();
  for (const CommitRun& run : runs.runs) {
    if (own_.LacksSomeOf(run)) BW_TRY(own_.Announce(run, After(began, kResolveTime)));
  }
  law_.OnAnnounced(began, env_.clock.Now(), NextUnit(env_.random));
  return {};
}

// The cheapest request that there is tells whether another has taken what was announced. That it is gone proves nothing:
// the rows of the newest version tell.
Result<void> Committer::Ask() {
  const Result<uint64_t> size = env_.store.Stat(own_.Oldest());
  if (size.ok()) {
    law_.OnPassed(env_.clock.Now(), NextUnit(env_.random));
    return {};
  }
  if (size.error().code != ErrorCode::kNotFound) return size.error();
  own_.ForgetOldest();
  // Of producers whose batches become ready while it is read a glimpse has no rows.
  CollectedRuns pending = pipeline_.CollectRuns();
  ManifestGlimpse newest = BW_TRY(log_.GlimpseNewest(Waiting(pending)));
  law_.OnVersionSeen(env_.clock.Now(), seen_.See(newest, pipeline_.Names()));
  BW_TRY(Settle(std::move(newest.manifest), std::move(pending), /*is_gone=*/true));
  law_.OnTaken();
  return {};
}

Result<void> Committer::Look() {
  Build(base_ ? BW_TRY(log_.Refresh(*base_)) : BW_TRY(log_.ReadNewest()));
  return {};
}

Result<void> Committer::Attempt() {
  if (!attempt_) BW_TRY(Begin());
  if (!attempt_) return {};
  const Duration time = BW_MUTATION(kMovesOnWhileUndecided) ? Duration{} : kResolveTime;
  const Result<PendingCommit::Outcome> outcome = attempt_->Resolve(After(env_.clock.Now(), time));
  if (FailedWith(outcome, ErrorCode::kUnknownOutcome)) {
    if (BW_MUTATION(kMovesOnWhileUndecided)) base_ = std::exchange(attempt_, std::nullopt)->committed();
    if (BW_MUTATION(kNewBodyForTheSlot)) BW_TRY(FreezeAgain());
    return outcome.error();
  }
  const PendingCommit decided = *std::exchange(attempt_, std::nullopt);
  const bool won = outcome.ok() && *outcome == PendingCommit::Outcome::kCommitted;
  law_.OnAttempt({.began = attempt_began_, .ended = env_.clock.Now(), .won = won, .taken = taken_},
                 NextUnit(env_.random));
  if (!outcome.ok()) return outcome.error();
  pipeline_.CountCommit(won);
  if (BW_MUTATION(kLoserCleansUp) && !won) CleanUp(log_, attempted_);
  if (!won) {  // The next attempt begins from the newest version.
    base_.reset();
    row_table_ = {};
    return {};
  }
  BW_FAULT_POINT("batches.committed");
  Build(decided.committed());
  pipeline_.Acknowledge(attempted_, verdicts_);
  DeleteDead();
  return {};
}

// Reads what to build on, and freezes an attempt of what is uploaded and announced now. Leaves none where nothing is to be
// committed, or where the law says that too many are at it.
Result<void> Committer::Begin() {
  attempt_began_ = env_.clock.Now();
  std::optional<Announced> announced{std::in_place};
  others_.Clear();
  if (for_all_) announced = BW_TRY(others_.ReadFor(law_, attempt_began_, pipeline_.Names()));
  if (!announced) {
    base_.reset();
    return {};
  }
  BW_TRY(ReadBase());
  BW_TRY(Settle(base_->manifest, pipeline_.CollectRuns(), /*is_gone=*/false));
  attempted_ = KnownTo(base_->manifest.version, pipeline_.CollectRuns());
  return Freeze(*announced);
}

Result<void> Committer::ReadBase() {
  if (base_ && law_.serves()) {
    // Who serves has committed the newest version itself, a moment ago; unless a producer was opened here since.
    const std::vector<CommitRun> runs = pipeline_.CollectRuns().runs;
    const auto is_known = [&](const CommitRun& run) { return run.incarnation.value <= base_->manifest.version.value; };
    if (std::ranges::all_of(runs, is_known)) return {};
  }
  LoggedManifest newest = base_ ? BW_TRY(log_.Refresh(*base_)) : BW_TRY(log_.ReadNewest());
  if (BW_MUTATION(kBatchesNotRebased) && base_) {
    base_->manifest.version = newest.manifest.version;
    newest.manifest = base_->manifest;
  }
  Build(std::move(newest));
  return {};
}

Result<void> Committer::Freeze(const Announced& announced) {
  Manifest next = BW_TRY(BeginNext(*base_));
  std::vector<std::string> names = others_.Producers();
  for (std::string& name : Waiting(attempted_)) names.push_back(std::move(name));
  BW_TRY(BringRows(log_, row_table_, names, next));
  CommitPlan plan = PlanCommit(std::move(next), attempted_.runs, env_.clock.WallNow().count(), announced);
  verdicts_ = std::move(plan.verdicts);
  taken_ = plan.taken;
  // By the version as it will be, or as it is; and before rows move to a table.
  if (!plan.changes) plan.next.version = base_->manifest.version;
  dead_ = others_.Dead(plan.next);
  for (std::string& key : own_.Dead(plan.next)) dead_.push_back(std::move(key));
  if (plan.changes) {
    BW_TRY(ArchiveHistory(log_, plan.next, base_->manifest.next_step, After(env_.clock.Now(), kResolveTime)));
    attempt_.emplace(log_, *base_, std::move(plan.next));
    return {};
  }
  law_.OnNothing(env_.clock.Now());
  pipeline_.Acknowledge(attempted_, verdicts_);  // Fenced, or sealed.
  DeleteDead();
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

// The next attempt builds on `version`.
void Committer::Build(LoggedManifest version) {
  base_ = std::move(version);
  law_.OnVersionSeen(env_.clock.Now(), seen_.See(base_->manifest, pipeline_.Names()));
}

// Whose rows tell what became of what is pending here.
std::vector<std::string> Committer::Waiting(const CollectedRuns& runs) const {
  std::vector<std::string> names = own_.Producers();
  for (const CommitRun& run : runs.runs) names.push_back(run.producer);
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

// What the newest version has of `ready`, whoever committed it, is acknowledged: under one's own incarnation nobody else can
// have uploaded it. Under another the row says nothing of it (M2). `seen` has the rows of `ready`, or their table.
Result<void> Committer::Settle(Manifest seen, CollectedRuns ready, bool is_gone) {
  const CollectedRuns pending = KnownTo(seen.version, std::move(ready));
  BW_TRY(BringRows(log_, row_table_, Waiting(pending), seen));
  CollectedRuns covered;
  std::vector<Verdict> verdicts;
  for (size_t i = 0; i < pending.runs.size(); ++i) {
    CommitRun run = CoveredOf(seen, pending.runs[i], is_gone);
    const bool believed = BW_MUTATION(kGoneTakenForCommitted) && is_gone;
    const Verdict verdict = believed ? Verdict::kTaken : JudgeRun(seen, run);
    if (verdict == Verdict::kTaken && run.entries.empty() && !run.finish) continue;
    verdicts.push_back(verdict);
    covered.runs.push_back(std::move(run));
    covered.producers.push_back(pending.producers[i]);
  }
  pipeline_.Acknowledge(covered, verdicts);
  own_.Forget(own_.Dead(seen));
  return {};
}

// At best: else the next LIST has them again, and a reclaimer takes them one day.
void Committer::DeleteDead() {
  own_.Forget(dead_);
  if (!dead_.empty()) static_cast<void>(env_.store.Delete(dead_));
  dead_.clear();
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
