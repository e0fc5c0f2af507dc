#include "batchweave/producer/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/base/mutation.h"

namespace batchweave {
namespace {

// Between tries of an upload that failed: soon at first, and never so rare that a mended cause goes unseen for long.
constexpr Duration kRetryDelayFirst = std::chrono::milliseconds(50);
constexpr Duration kRetryDelayMax = std::chrono::seconds(5);

// Unavailability passes, and what is undecided is tried until it is decided: kStalled tells of them, should they last.
bool NeedsAPerson(ErrorCode code) { return code != ErrorCode::kUnavailable && code != ErrorCode::kUnknownOutcome; }

}  // namespace

ProducerState::ProducerState(std::string name_in, OpenedProducer opened_in, ProducerOptions options_in)
    : name(std::move(name_in)),
      opened(std::move(opened_in)),
      options(options_in),
      published_seq(opened.seq),
      committed_seq(opened.seq),
      published_cursor(opened.cursor) {}

Pipeline::Pipeline(Env env) : env_(env) {}

void Pipeline::Add(ProducerRef producer) {
  const Lock lock(mutex_);
  Progress(*producer);
  producers_.push_back(std::move(producer));
}

Result<uint64_t> Pipeline::Enqueue(ProducerState& producer, GlobalBatch&& batch, PublishOptions options) {
  BW_TRY(batch.CheckComplete());
  Lock lock(mutex_);
  BW_TRY(CheckOpen(producer));
  const uint64_t size_bytes = batch.size_bytes() + options.provenance.size();
  BW_TRY(CheckNoTickets(producer));
  BW_TRY(CheckPublish(producer, size_bytes, options));
  const TimePoint began = env_.clock.Now();
  BW_TRY(AwaitRoom(lock, producer, size_bytes));
  producer.stats.waited_for_room += env_.clock.Now() - began;
  // Another thread may have published while this one waited for room: the cursors must join as things stand now.
  BW_TRY(CheckNoTickets(producer));
  BW_TRY(CheckPublish(producer, size_bytes, options));
  return Append(producer, {.size_bytes = size_bytes, .batch = std::move(batch), .options = std::move(options)});
}

uint64_t Pipeline::Append(ProducerState& producer, PendingBatch&& batch) {
  if (producer.pending.empty()) Progress(producer);
  batch.seq = ++producer.published_seq;
  producer.published_cursor = batch.options.cursor;
  if (batch.state == PendingBatch::State::kQueued) producer.pending_bytes += batch.size_bytes;
  producer.stats.published += 1;
  producer.stats.published_bytes += batch.size_bytes;
  // Shared: see ProducerState::pending.
  producer.pending.push_back(std::make_shared<PendingBatch>(std::move(batch)));
  // Parts are uploaded when they come.
  if (producer.pending.back()->state == PendingBatch::State::kQueued) {
    env_.clock.NotifyAll(uploads_);
  } else {
    OnReady();
  }
  return producer.published_seq;
}

Result<void> Pipeline::AwaitCommitted(ProducerState& producer, TimePoint deadline) {
  Lock lock(mutex_);
  BW_TRY(CheckOpen(producer));
  const uint64_t seq = producer.published_seq;
  return Await(lock, outcomes_, producer, deadline, [&] { return producer.committed_seq >= seq; });
}

Result<void> Pipeline::AwaitFinished(ProducerState& producer, TimePoint deadline) {
  Lock lock(mutex_);
  if (producer.finished) return {};
  BW_TRY(CheckOpen(producer));
  BW_TRY(CheckNoTickets(producer));
  producer.finish_wanted = true;
  OnReady();
  return Await(lock, outcomes_, producer, deadline, [&] { return producer.finished; });
}

Result<void> Pipeline::Pause(ProducerState& producer, TimePoint deadline) {
  Lock lock(mutex_);
  WaitUntil(env_.clock, outcomes_, lock, deadline, [&] { return producer.end.has_value(); });
  if (producer.end) return *producer.end;
  return {};
}

void Pipeline::Close(ProducerState& producer) {
  const Lock lock(mutex_);
  End(producer, {ErrorCode::kClosed, fmt::format("the producer was closed: producer={}", producer.name)});
  std::erase_if(producers_, [&](const ProducerRef& other) { return other.get() == &producer; });
}

ProducerStats Pipeline::StatsOf(const ProducerState& producer) const {
  const Lock lock(mutex_);
  ProducerStats stats = producer.stats;
  stats.pending_bytes = producer.pending_bytes;
  stats.commits = commits_;
  stats.commits_lost = commits_lost_;
  return stats;
}

uint64_t Pipeline::CommittedSeqOf(const ProducerState& producer) const {
  const Lock lock(mutex_);
  return producer.committed_seq;
}

std::unordered_set<std::string> Pipeline::Names() const {
  std::unordered_set<std::string> names;
  const Lock lock(mutex_);
  for (const ProducerRef& producer : producers_) names.insert(producer->name);
  return names;
}

std::optional<UploadJob> Pipeline::TakeUpload() {
  Lock lock(mutex_);
  while (!stopped_) {
    const TimePoint now = env_.clock.Now();
    TimePoint wake_at = kForever;
    for (size_t i = 0; i < producers_.size(); ++i) {
      const ProducerRef& producer = producers_[(turn_ + i) % producers_.size()];
      const auto queued = std::ranges::find(producer->pending, PendingBatch::State::kQueued,
                                            [](const auto& batch) { return batch->state; });
      if (queued == producer->pending.end()) continue;
      if (producer->retry_at > now) {
        wake_at = std::min(wake_at, producer->retry_at);
        continue;
      }
      (*queued)->state = PendingBatch::State::kUploading;
      turn_ += i + 1;
      return UploadJob{.producer = producer, .batch = *queued};
    }
    env_.clock.Wait(uploads_, lock, wake_at);
  }
  return std::nullopt;
}

void Pipeline::FinishUpload(const UploadJob& job, const Result<void>& result) {
  GlobalBatch done{Grid{}};  // Its memory is freed after the mutex, and so is that of the options.
  PublishOptions done_options;
  const Lock lock(mutex_);
  ProducerState& producer = *job.producer;
  if (producer.end) return;
  if (result.ok()) {
    job.batch->state = PendingBatch::State::kUploaded;
    job.batch->uploaded_at = env_.clock.Now();
    producer.pending_bytes -= job.batch->size_bytes;
    std::swap(done, job.batch->batch);
    std::swap(done_options, job.batch->options);
    job.batch->packed->object = {};  // It pointed into what is freed now; the entry is all that is needed still.
    producer.retry_delay = {};
    last_error_.reset();
    Progress(producer);
    OnReady();
    env_.clock.NotifyAll(room_);
  } else {
    job.batch->state = PendingBatch::State::kQueued;
    last_error_ = WithContext(result.error(), fmt::format("upload of batch {} of {}", job.batch->seq, producer.name));
    if (NeedsAPerson(result.error().code)) producer.failure = last_error_;
    producer.retry_delay = std::clamp(producer.retry_delay * 2, kRetryDelayFirst, kRetryDelayMax);
    producer.retry_at = After(env_.clock.Now(), producer.retry_delay);
    producer.stats.retries += 1;
    env_.clock.NotifyAll(uploads_);
    OnOutcome();
  }
}

void Pipeline::OnReady() {
  ready_ += 1;
  env_.clock.NotifyAll(commits_due_);
}

void Pipeline::OnOutcome() {
  env_.clock.NotifyAll(room_);
  env_.clock.NotifyAll(outcomes_);
}

bool Pipeline::AwaitCommittable(bool serves) {
  Lock lock(mutex_);
  WaitUntil(env_.clock, commits_due_, lock, kForever, [&] {
    const auto wants = [&](const ProducerRef& p) { return serves ? !p->end && !p->finished : IsCommittable(*p); };
    return stopped_ || std::ranges::any_of(producers_, wants);
  });
  return !stopped_;
}

bool Pipeline::stopped() const {
  const Lock lock(mutex_);
  return stopped_;
}

uint64_t Pipeline::ready() const {
  const Lock lock(mutex_);
  return ready_;
}

void Pipeline::AwaitMore(TimePoint deadline, uint64_t seen) {
  Lock lock(mutex_);
  WaitUntil(env_.clock, commits_due_, lock, deadline, [&] { return stopped_ || ready_ != seen; });
}

void Pipeline::SleepUntil(TimePoint deadline) {
  Lock lock(mutex_);
  WaitUntil(env_.clock, commits_due_, lock, deadline, [&] { return stopped_; });
}

CollectedRuns Pipeline::CollectRuns() const {
  CollectedRuns collected;
  const Lock lock(mutex_);
  for (const ProducerRef& producer : producers_) {
    if (!IsCommittable(*producer)) continue;
    CommitRun run{.producer = producer->name, .incarnation = producer->opened.incarnation, .entries = {}};
    for (const auto& batch : producer->pending) {
      const bool early = BW_MUTATION(kCommitsBeforeUpload) && batch->packed;
      const bool ready = batch->state == PendingBatch::State::kUploaded || early;
      if (!ready || run.entries.size() == kRunEntriesMax) break;
      run.entries.push_back(batch->packed->entry);
    }
    const Duration max_staleness = producer->options.max_staleness;
    if (max_staleness > Duration{} && !run.entries.empty()) {
      collected.due_at = std::min(collected.due_at, After(producer->pending.front()->uploaded_at, max_staleness));
    }
    run.committed_seq = producer->committed_seq;
    run.forget = producer->options.forget;
    const bool is_rest = run.entries.size() == producer->pending.size() || BW_MUTATION(kFinishesTooEarly);
    run.finish = producer->finish_wanted && is_rest;
    collected.runs.push_back(std::move(run));
    collected.producers.push_back(producer);
  }
  return collected;
}

void Pipeline::Acknowledge(const CollectedRuns& collected, std::span<const Verdict> verdicts) {
  BW_CHECK(collected.runs.size() == verdicts.size());
  const Lock lock(mutex_);
  last_error_.reset();
  const TimePoint now = env_.clock.Now();
  for (size_t i = 0; i < verdicts.size(); ++i) {
    ProducerState& producer = *collected.producers[i];
    const CommitRun& run = collected.runs[i];
    if (producer.end) continue;
    if (verdicts[i] == Verdict::kFenced) {
      End(producer, {ErrorCode::kFenced, fmt::format("a newer holder has taken the name: producer={} incarnation={}",
                                                     producer.name, run.incarnation.value)});
      continue;
    }
    if (verdicts[i] == Verdict::kSealed) {
      End(producer, {ErrorCode::kSealed, fmt::format("the stream was sealed before these batches: producer={} "
                                                     "committed={} dropped={}",
                                                     producer.name, producer.committed_seq, producer.pending.size())});
      continue;
    }
    for (const Entry& entry : run.entries) {
      BW_CHECK(!producer.pending.empty() && producer.pending.front()->seq == entry.seq);
      producer.committed_seq = entry.seq;
      CountCommitted(producer, now - producer.pending.front()->uploaded_at);
      producer.pending.pop_front();
    }
    if (run.finish) producer.finished = true;
    producer.failure.reset();
    Progress(producer);
  }
  if (!verdicts.empty()) OnOutcome();
}

void Pipeline::CountCommitted(ProducerState& producer, Duration staleness) {
  ProducerStats& stats = producer.stats;
  stats.committed += 1;
  stats.staleness_max = std::max(stats.staleness_max, staleness);
  const Duration wanted = producer.options.max_staleness;
  if (wanted > Duration{} && staleness > wanted) stats.late += 1;
}

void Pipeline::ReportFailure(const Error& error) {
  const Lock lock(mutex_);
  last_error_ = WithContext(error, "commit");
  if (!NeedsAPerson(error.code)) return;
  for (const ProducerRef& producer : producers_) {
    if (IsCommittable(*producer)) producer->failure = last_error_;
  }
  OnOutcome();
}

void Pipeline::CountCommit(bool won) {
  const Lock lock(mutex_);
  (won ? commits_ : commits_lost_) += 1;
}

void Pipeline::Stop() {
  const Lock lock(mutex_);
  stopped_ = true;
  for (Condition* condition : {&uploads_, &commits_due_, &room_, &outcomes_}) env_.clock.NotifyAll(*condition);
}

bool Pipeline::IsCommittable(const ProducerState& producer) const {
  if (producer.end || producer.finished) return false;
  if (producer.pending.empty()) return producer.finish_wanted;
  return producer.pending.front()->state == PendingBatch::State::kUploaded;
}

// Tells, once, of a failure since the last call; what failed is then due to be tried at once.
Result<void> Pipeline::CheckOpen(ProducerState& producer) {
  if (producer.end) return *producer.end;
  if (producer.finished) {
    return Error{ErrorCode::kClosed, fmt::format("the producer has finished: producer={}", producer.name)};
  }
  if (std::exchange(producer.retry_at, {}) != TimePoint{}) env_.clock.NotifyAll(uploads_);
  if (!producer.failure) return {};
  return *std::exchange(producer.failure, std::nullopt);
}

Result<void> Pipeline::CheckPublish(const ProducerState& producer, uint64_t size_bytes,
                                    const PublishOptions& options) const {
  const auto refuse = [](std::string message) { return Error{ErrorCode::kInvalidArgument, std::move(message)}; };
  if (producer.finish_wanted) return refuse("a batch was published after Finish()");
  if (options.cursor.size() > kCursorBytesMax) {
    return refuse(fmt::format("the cursor is too long: bytes={} max={}", options.cursor.size(), kCursorBytesMax));
  }
  if (options.metadata.size() > kMetadataBytesMax) {
    return refuse(fmt::format("the metadata is too long: bytes={} max={}", options.metadata.size(), kMetadataBytesMax));
  }
  if (options.provenance.size() > kProvenanceBytesMax) {
    return refuse(
        fmt::format("the provenance is too long: bytes={} max={}", options.provenance.size(), kProvenanceBytesMax));
  }
  if (size_bytes > env_.store.traits().put_bytes_max) {
    return refuse(fmt::format("the batch is larger than the store takes as one object: bytes={} max={}", size_bytes,
                              env_.store.traits().put_bytes_max));
  }
  if (options.cursor_before && producer.published_cursor && *options.cursor_before != *producer.published_cursor) {
    return refuse(
        fmt::format("the source does not go on where it stood: producer={} cursor_before={} "
                    "cursor_after_the_last_batch={} (both in hexadecimal)",
                    producer.name, ToHex(*options.cursor_before), ToHex(*producer.published_cursor)));
  }
  return {};
}

Result<void> Pipeline::AwaitRoom(Lock& lock, ProducerState& producer, uint64_t size_bytes) {
  return Await(lock, room_, producer, kForever, [&] {
    if (producer.end) return false;  // What it had pending is gone, but that is no room.
    if (producer.pending.size() >= kPendingBatchesMax) return false;
    // One batch larger than the budget passes alone.
    return producer.pending_bytes == 0 || producer.pending_bytes + size_bytes <= producer.options.pending_bytes_max;
  });
}

template <typename Done>
Result<void> Pipeline::Await(Lock& lock, Condition& condition, ProducerState& producer, TimePoint deadline, Done done) {
  const TimePoint began = env_.clock.Now();  // Before it nobody waited, so that nothing stood still.
  while (!done()) {
    if (producer.end) return *producer.end;
    if (producer.failure) return *std::exchange(producer.failure, std::nullopt);
    const TimePoint stalled_at = After(std::max(began, producer.progress_at), producer.options.stall_after);
    if (env_.clock.Now() >= std::min(deadline, stalled_at)) return Stalled(producer);
    env_.clock.Wait(condition, lock, std::min(deadline, stalled_at));
  }
  return {};
}

Error Pipeline::Stalled(const ProducerState& producer) const {
  const auto uploaded = std::ranges::count(producer.pending, PendingBatch::State::kUploaded,
                                           [](const auto& batch) { return batch->state; });
  const auto quiet = std::chrono::duration_cast<std::chrono::seconds>(env_.clock.Now() - producer.progress_at);
  return {
      ErrorCode::kStalled,
      fmt::format("waiting for batch {} of {} to be committed; {} pending, {} of them uploaded; no progress for {} s; "
                  "last error: {}",
                  producer.committed_seq + 1, producer.name, producer.pending.size(), uploaded, quiet.count(),
                  last_error_ ? ToString(*last_error_) : "none")};
}

void Pipeline::End(ProducerState& producer, Error error) {
  if (!producer.end) producer.end = std::move(error);
  producer.pending.clear();
  producer.pending_bytes = 0;
  producer.tickets.clear();
  OnOutcome();
}

void Pipeline::Progress(ProducerState& producer) { producer.progress_at = env_.clock.Now(); }

}  // namespace batchweave
