#include "batchweave/producer/open_producer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "batchweave/base/fault_point.h"
#include "batchweave/log/archive_history.h"
#include "batchweave/log/change.h"
#include "batchweave/log/dead_keys.h"
#include "batchweave/log/deletion.h"
#include "batchweave/log/pending_commit.h"
#include "batchweave/log/producer_rows.h"
#include "batchweave/producer/announced_reader.h"
#include "batchweave/producer/combining_law.h"
#include "batchweave/producer/commit_plan.h"
#include "batchweave/producer/seen_log.h"
#include "batchweave/store/backoff.h"
#include "batchweave/store/retrying_store.h"

namespace batchweave {
namespace {

// Between tries of what failed without an outcome: as a change has them.
constexpr RetryPolicy kRetries{.first_delay = std::chrono::milliseconds(2),
                               .delay_max = std::chrono::seconds(2),
                               .attempts_max = kChangeAttemptsMax};

// One opening, by the law that batches are committed by: alone it is committed at once; who sees that there are many, or has
// lost a race, announces it, and whoever commits takes it along.
class Opener {
 public:
  Opener(ManifestLog& log, std::string_view producer, bool reopen, TimePoint deadline)
      : log_(log),
        env_(log.env()),
        producer_(producer),
        nonce_(env_.random.Next()),
        reopen_(reopen),
        deadline_(deadline),
        others_(log) {}

  Result<OpenedProducer> Run() {
    Backoff backoff(env_.clock, env_.random, kRetries, deadline_);
    while (env_.clock.Now() < deadline_) {
      const Result<void> advanced = Advance();
      if (opened_) return *std::move(opened_);
      if (advanced.ok()) continue;
      base_.reset();
      if (!FailedWith(advanced, ErrorCode::kUnavailable)) return advanced.error();
      last_ = advanced.error();
      if (!backoff.Wait()) break;
    }
    return last_;
  }

 private:
  struct Announcement {
    std::string key;
    Version base;
  };

  Result<void> Advance() {
    if (seen_.version() == Version{} && !announced_) BW_TRY(Look());
    if (opened_) return {};
    const CommitLaw::Pending pending{.announced = announced_.has_value(), .unannounced = !announced_};
    const CommitLaw::Decision decision = law_.Decide(env_.clock.Now(), pending);
    if (decision.at > env_.clock.Now()) {
      base_.reset();
      env_.clock.SleepUntil(std::min(decision.at, deadline_));
      return {};
    }
    switch (decision.action) {
      case CommitLaw::Action::kAnnounce: return Announce();
      case CommitLaw::Action::kAsk: return Ask();
      default: return Attempt(decision.action == CommitLaw::Action::kTryForAll);
    }
  }

  Result<void> Announce() {
    const TimePoint began = env_.clock.Now();
    base_.reset();
    const OpeningIntent intent{.stream_id = log_.keys().stream_id,
                               .producer = producer_,
                               .base = seen_.version(),
                               .nonce = nonce_,
                               .reopen = reopen_};
    const Bytes object = EncodeIntent(intent);
    const ByteView piece = object;
    std::string key = log_.keys().Opening(producer_, intent.base, nonce_);
    BW_TRY(PutUnique(env_, key, {&piece, 1}, deadline_));
    BW_FAULT_POINT("opening.announced");
    announced_ = Announcement{.key = std::move(key), .base = intent.base};
    law_.OnAnnounced(began, env_.clock.Now(), NextUnit(env_.random));
    return {};
  }

  // As Committer::Ask.
  Result<void> Ask() {
    const Result<uint64_t> size = env_.store.Stat(announced_->key);
    if (size.ok()) {
      law_.OnPassed(env_.clock.Now(), NextUnit(env_.random));
      return {};
    }
    if (size.error().code != ErrorCode::kNotFound) return size.error();
    BW_TRY(Look());
    announced_.reset();
    law_.OnTaken();
    return {};
  }

  // Who has seen nothing yet would take itself for alone, and so would each of a fleet that is started again.
  Result<void> Look() {
    LoggedManifest newest = BW_TRY(log_.ReadNewest());
    law_.OnVersionSeen(env_.clock.Now(), seen_.See(newest.manifest, {producer_}));
    BW_TRY(BringRows(log_, row_table_, {&producer_, 1}, newest.manifest));
    BW_TRY(Settle(newest.manifest));
    if (!opened_) BW_TRY(MayOpen(newest.manifest));
    base_ = std::move(newest);  // Settled: an attempt may build on it.
    return {};
  }

  // The row carries the nonce where another has taken the announcement. Under the new incarnation nothing can have been
  // committed since: nobody holds it yet.
  Result<void> Settle(const Manifest& seen) {
    const ProducerRow* row = FindRow(seen, producer_);
    if (row != nullptr && row->opening_nonce == nonce_) {
      opened_ = OpenedProducer{
          .incarnation = row->incarnation, .seq = row->seq, .cursor = BW_TRY(CommittedCursor(log_, seen, *row))};
      return {};
    }
    if (announced_ && IsOpeningDead(seen, row, announced_->base)) {
      announced_.reset();
      nonce_ = env_.random.Next();  // Another opening: nobody can mistake it for the one that is dead.
    }
    return {};
  }

  Result<void> Attempt(bool for_all) {
    const TimePoint began = env_.clock.Now();
    std::optional<Announced> announced{std::in_place};
    others_.Clear();
    if (for_all) announced = BW_TRY(others_.ReadFor(law_, began, {producer_}));
    if (!announced) return {};
    if (!base_) BW_TRY(Look());
    if (opened_) return {};
    const LoggedManifest base = *std::exchange(base_, std::nullopt);
    Manifest next = BW_TRY(BeginNext(base));
    std::vector<std::string> names = others_.Producers();
    names.push_back(producer_);
    BW_TRY(BringRows(log_, row_table_, names, next));
    OpenedProducer opened = BW_TRY(Open(next));
    CommitPlan plan = PlanCommit(std::move(next), {}, env_.clock.WallNow().count(), *announced);
    std::vector<std::string> dead = others_.Dead(plan.next);
    if (announced_) dead.push_back(announced_->key);
    BW_TRY(ArchiveHistory(log_, plan.next, base.manifest.next_step, deadline_));
    PendingCommit commit(log_, base, std::move(plan.next));
    const bool won = BW_TRY(commit.Resolve(deadline_)) == PendingCommit::Outcome::kCommitted;
    law_.OnAttempt({.began = began, .ended = env_.clock.Now(), .won = won}, NextUnit(env_.random));
    if (!won) return {};
    BW_FAULT_POINT("opening.committed");
    opened_ = std::move(opened);
    if (!dead.empty()) static_cast<void>(env_.store.Delete(dead));  // At best, as Committer::DeleteDead.
    return {};
  }

  Result<void> MayOpen(const Manifest& seen) {
    if (seen.sealed) {
      return Error{ErrorCode::kSealed,
                   fmt::format("the stream has ended: name={} steps={}", log_.keys().name, seen.next_step.value)};
    }
    const ProducerRow* row = FindRow(seen, producer_);
    if (row == nullptr || row->state == ProducerRow::State::kOpen || reopen_) return {};
    const std::optional<Bytes> cursor = BW_TRY(CommittedCursor(log_, seen, *row));
    return Error{ErrorCode::kAlreadyExists,
                 fmt::format("the producer has finished; to go on with it, reopen it: producer={} batches={} cursor={}",
                             producer_, row->seq, cursor ? ToHex(*cursor) : "none")};
  }

  // Makes the row of `next` this opening's.
  Result<OpenedProducer> Open(Manifest& next) {
    BW_TRY(MayOpen(next));
    ProducerRow& row = FindOrAddRow(next, producer_);
    std::optional<Bytes> cursor = BW_TRY(CommittedCursor(log_, next, row));
    TakeOpening(next, nonce_, row);
    BW_FAULT_POINT("opening.made");
    return OpenedProducer{.incarnation = row.incarnation, .seq = row.seq, .cursor = std::move(cursor)};
  }

  ManifestLog& log_;
  const Env env_;
  const std::string producer_;
  uint64_t nonce_;
  const bool reopen_;
  const TimePoint deadline_;
  AnnouncedReader others_;
  CombiningLaw law_;
  RowTable row_table_;
  SeenLog seen_;
  std::optional<LoggedManifest> base_;  // Just looked at: what an attempt builds on now.
  std::optional<Announcement> announced_;
  std::optional<OpenedProducer> opened_;
  Error last_{ErrorCode::kUnavailable, "other committers were first each time: try again"};
};

}  // namespace

Result<OpenedProducer> CommitOpening(ManifestLog& log, std::string_view producer, bool reopen, TimePoint deadline) {
  BW_TRY(CheckName("producer", producer));
  Result<OpenedProducer> opened = Opener(log, producer, reopen, deadline).Run();
  if (opened.ok()) return opened;
  return UnlessDeleted(log, std::move(opened).error());
}

}  // namespace batchweave
