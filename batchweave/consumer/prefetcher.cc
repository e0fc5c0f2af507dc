#include "batchweave/consumer/prefetcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "batchweave/base/mutation.h"
#include "batchweave/consumer/ask_log.h"

namespace batchweave {
namespace {

uint32_t WindowSteps(const ConsumerOptions& options) { return std::max<uint32_t>(options.prefetch_steps_max, 1); }

int64_t Seconds(Duration duration) { return std::chrono::duration_cast<std::chrono::seconds>(duration).count(); }

// More threads than steps in the window would have nothing to do.
uint32_t ThreadCount(const ConsumerOptions& options) {
  return std::min(options.prefetch_threads, options.prefetch_steps_max);
}

}  // namespace

Prefetcher::Prefetcher(Env env, ManifestLog& log, ConsumerOptions options, StepIndex index)
    : env_(env),
      log_(log),
      options_(std::move(options)),
      fetcher_(log, {.rank = options_.rank,
                     .allow_uneven = options_.allow_uneven,
                     .idle_buffer_bytes_max = options_.prefetch_bytes_max}),
      index_(std::move(index)),
      window_(options_.position, {.steps_max = WindowSteps(options_), .bytes_max = options_.prefetch_bytes_max}),
      pace_({.min = options_.poll_interval_min, .max = options_.poll_interval_max}),
      position_(options_.position),
      chain_hash_(index_.newest().hash) {}

Prefetcher::~Prefetcher() { Close(); }

Result<std::optional<RankBatch>> Prefetcher::Next(TimePoint deadline) {
  const TimePoint began = env_.clock.Now();
  deadline = std::min(deadline, After(began, options_.stall_after));
  if (BW_MUTATION(kStallNotTold)) deadline = kForever;
  StartThreads();
  {
    // What failed before this call is tried anew, so that an error is never older than the call that returns it.
    const std::lock_guard lock(mutex_);
    window_.RetryHead();
    if (std::exchange(follow_failed_, false)) follow_failures_ = 0;
  }
  env_.clock.NotifyAll(work_);
  for (;;) {
    const TimePoint now = env_.clock.Now();
    std::unique_lock lock(mutex_);
    if (closed_) return Error{ErrorCode::kClosed, "the consumer was closed"};
    const TimePoint known_since = window_.head() ? window_.head()->known_since : now;
    if (auto outcome = HeadOutcome()) {
      CountWait(began, now, known_since);
      lock.unlock();
      env_.clock.NotifyAll(work_);  // There is room for another step.
      return std::move(*outcome);
    }
    if (now >= deadline) {
      CountWait(began, now, known_since);
      return Stalled(now);
    }
    TimePoint wake = deadline;
    if (reads_inline()) {
      Choice choice = ChooseJob(now);
      if (choice.job) {
        lock.unlock();
        Run(std::move(*choice.job));
        continue;
      }
      // Steps that are skipped may have been all that was left.
      if (window_.head() == nullptr && index_.ended()) continue;
      wake = std::min(wake, choice.look_again);
    }
    env_.clock.Wait(outcome_, lock, wake);
  }
}

std::optional<Result<std::optional<RankBatch>>> Prefetcher::HeadOutcome() {
  if (window_.PassSkipped()) env_.clock.NotifyAll(work_);
  const PrefetchWindow::Slot* head = window_.head();
  if (head == nullptr) {
    if (index_.ended()) {
      position_ = window_.position();
      return std::optional<RankBatch>();
    }
    if (!follow_failed_) return std::nullopt;
    return *last_follow_error_;
  }
  if (head->state != PrefetchWindow::State::kReady && head->state != PrefetchWindow::State::kFailed)
    return std::nullopt;
  if (head->state == PrefetchWindow::State::kFailed) return *head->last_error;
  PrefetchWindow::Slot taken = window_.TakeHead();
  position_ = taken.known.step + 1;
  chain_hash_ = taken.known.version_hash;
  stats_.steps += 1;
  stats_.delivered_bytes += taken.bytes;
  return std::move(taken.batch);
}

void Prefetcher::CountWait(TimePoint began, TimePoint ended, TimePoint known_since) {
  const TimePoint known = std::clamp(known_since, began, std::max(began, ended));
  stats_.waited_for_commit += known - began;
  stats_.waited_for_fetch += std::max(ended, known) - known;
}

Error Prefetcher::Stalled(TimePoint now) const {
  const StepIndex::Newest& newest = index_.newest();
  const uint64_t step = window_.position().value;
  if (const PrefetchWindow::Slot* head = window_.head()) {
    std::string message = fmt::format("waiting for the bytes of step {} by {} for {} s, {} tries failed", step,
                                      head->known.entry->producer, Seconds(now - head->known_since), head->failures);
    if (head->last_error) message += fmt::format("; the last: {}", ToString(*head->last_error));
    return {ErrorCode::kStalled, std::move(message)};
  }
  std::string message = fmt::format("waiting for step {}; nothing is committed yet", step);
  if (newest.next_step > Step{0}) {
    const Duration age = env_.clock.WallNow() - Duration(newest.committed_at_ns);
    message = fmt::format("waiting for step {}; newest is {}, committed {} s ago by {}", step,
                          newest.next_step.value - 1, Seconds(age), newest.producer);
  }
  if (follow_failures_ > 0) {
    message +=
        fmt::format("; {} looks at the log failed, the last: {}", follow_failures_, ToString(*last_follow_error_));
  }
  return {ErrorCode::kStalled, std::move(message)};
}

void Prefetcher::StartThreads() {
  if (std::exchange(started_, true) || reads_inline()) return;
  std::vector<std::unique_ptr<Thread>> threads;
  for (uint32_t i = 0; i < ThreadCount(options_); ++i) {
    threads.push_back(env_.threads.Start(fmt::format("bw-prefetch-{}", i), [this] { Work(); }));
  }
  const std::lock_guard lock(mutex_);
  threads_ = std::move(threads);
}

void Prefetcher::Work() {
  for (;;) {
    const TimePoint now = env_.clock.Now();
    std::unique_lock lock(mutex_);
    if (closed_) return;
    Choice choice = ChooseJob(now);
    if (!choice.job) {
      env_.clock.Wait(work_, lock, choice.look_again);
      continue;
    }
    lock.unlock();
    Run(std::move(*choice.job));
  }
}

Prefetcher::Choice Prefetcher::ChooseJob(TimePoint now) {
  Admit(now);
  if (std::optional<KnownStep> known = window_.TakeFetch(now)) return {.job = std::move(*known), .look_again = now};
  Choice choice{.job = std::nullopt, .look_again = window_.NextRetry(now)};
  const bool may_follow = window_.HasRoom() && !index_.ended() && !following_ && !follow_failed_;
  if (!may_follow) return choice;
  if (next_poll_ > now) {
    choice.look_again = std::min(choice.look_again, next_poll_);
    return choice;
  }
  following_ = true;
  choice.job = index_.Ask();
  return choice;
}

void Prefetcher::Admit(TimePoint now) {
  for (window_.PassSkipped(); window_.HasRoom(); window_.PassSkipped()) {
    std::optional<KnownStep> known = index_.Take();
    if (!known) return;
    const auto holds = [&](const StepRange& range) { return range.first <= known->step && known->step < range.end; };
    if (std::ranges::any_of(options_.skipped, holds)) {
      window_.AdmitSkipped(*std::move(known));
      env_.clock.NotifyAll(outcome_);  // The stream may end with it.
      continue;
    }
    const Result<GridRange> wanted = SlicesOfStep(*known, options_.rank, options_.allow_uneven);
    const uint64_t bytes = wanted.ok() ? EstimateReadBytes(known->entry->parts, *wanted) : 0;
    window_.Admit(std::move(*known), bytes, now);
  }
}

void Prefetcher::Run(Job job) {
  if (const auto* question = std::get_if<LogQuestion>(&job)) return Follow(*question);
  Fetch(std::get<KnownStep>(job));
}

void Prefetcher::Follow(const LogQuestion& question) {
  Result<LogAnswer> answer = AskLog(log_, question);
  const TimePoint now = env_.clock.Now();
  const double unit = NextUnit(env_.random);
  {
    const std::lock_guard lock(mutex_);
    following_ = false;
    stats_.manifest_reads += 1;
    const Version before = index_.newest().version;
    Result<bool> learned = index_.Learn(question, std::move(answer));
    if (learned.ok()) {
      follow_failures_ = 0;
      if (index_.newest().version > before) pace_.OnVersion(now);
      next_poll_ = *learned ? now : After(now, pace_.AfterNothing(now, unit));
    } else {
      follow_failures_ += 1;
      follow_failed_ = !WorthRetrying(learned.error().code, follow_failures_);
      next_poll_ = After(now, RetryDelay(follow_failures_, unit));
      last_follow_error_ = std::move(learned).error();
      stats_.retries += follow_failed_ ? 0 : 1;
    }
  }
  env_.clock.NotifyAll(work_);
  env_.clock.NotifyAll(outcome_);
}

void Prefetcher::Fetch(const KnownStep& known) {
  FetchCost cost;
  Result<RankBatch> batch = fetcher_.FetchOne(known, cost);
  const TimePoint now = env_.clock.Now();
  const double unit = batch.ok() ? 0 : NextUnit(env_.random);
  bool is_head = false;
  {
    const std::lock_guard lock(mutex_);
    stats_.payload_gets += cost.gets;
    stats_.payload_bytes += cost.bytes;
    is_head = known.step == window_.position();
    window_.Complete(known.step, std::move(batch), now, unit);
  }
  if (is_head) env_.clock.NotifyAll(outcome_);
}

Step Prefetcher::position() const {
  const std::lock_guard lock(mutex_);
  return position_;
}

Hash128 Prefetcher::chain_hash() const {
  const std::lock_guard lock(mutex_);
  return chain_hash_;
}

ConsumerStats Prefetcher::stats() const {
  const std::lock_guard lock(mutex_);
  ConsumerStats stats = stats_;
  stats.retries += window_.retries();
  stats.buffered_bytes = window_.ready_bytes();
  stats.newest_known = index_.newest().next_step;
  return stats;
}

void Prefetcher::Close() {
  std::vector<std::unique_ptr<Thread>> threads;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    threads.swap(threads_);
  }
  env_.clock.NotifyAll(work_);
  env_.clock.NotifyAll(outcome_);
  // Joined as `threads` goes, without the lock.
}

}  // namespace batchweave
