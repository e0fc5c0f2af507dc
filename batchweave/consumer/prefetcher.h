// The thin threaded shell around StepIndex, PrefetchWindow and Fetcher: the only file here that starts threads. All of
// them, and a Next() that reads in its caller's thread, do the same: take a job, do it without any lock, report it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/consumer/consumer.h"
#include "batchweave/consumer/fetcher.h"
#include "batchweave/consumer/poll_pace.h"
#include "batchweave/consumer/prefetch_window.h"
#include "batchweave/consumer/step_index.h"
#include "batchweave/store/env.h"

namespace batchweave {

// Next() is for one thread at a time, everything else for any. Waits in one place for each side, so that Close() and the
// simulator need to know no other.
class Prefetcher {
 public:
  // `index` wants options.position. `log` and the parts of `env` must outlive the prefetcher. Starts no thread.
  Prefetcher(Env env, ManifestLog& log, ConsumerOptions options, StepIndex index);
  ~Prefetcher();  // Closes.

  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // These as in Consumer.
  Result<std::optional<RankBatch>> Next(TimePoint deadline);
  Step position() const;
  Hash128 chain_hash() const;
  ConsumerStats stats() const;
  void Close();

 private:
  using Job = std::variant<LogQuestion, KnownStep>;
  struct Choice {
    std::optional<Job> job;
    TimePoint look_again;  // Where there is no job: nothing but a notification makes one before this.
  };

  bool reads_inline() const { return options_.prefetch_steps_max == 0; }
  void StartThreads();
  void Work();

  // Under mutex_.
  Choice ChooseJob(TimePoint now);
  std::optional<Result<std::optional<RankBatch>>> HeadOutcome();
  void Admit(TimePoint now);
  Error Stalled(TimePoint now) const;
  void CountWait(TimePoint began, TimePoint ended, TimePoint known_since);

  // Without it.
  void Run(Job job);
  void Follow(const LogQuestion& question);
  void Fetch(const KnownStep& known);

  const Env env_;
  ManifestLog& log_;
  const ConsumerOptions options_;
  Fetcher fetcher_;

  mutable std::mutex mutex_;
  Condition work_;     // For the threads: there may be a job.
  Condition outcome_;  // For Next(): the step at the position may have come to something.
  bool closed_ = false;
  StepIndex index_;
  PrefetchWindow window_;
  PollPace pace_;
  bool following_ = false;  // A question to the log is under way.
  TimePoint next_poll_{};
  uint32_t follow_failures_ = 0;  // In a row.
  std::optional<Error> last_follow_error_;
  bool follow_failed_ = false;  // Too often: rests until Next() is called.
  // What position() tells: moved by Next() alone, so that ranks agree, however far each has looked past skipped steps.
  Step position_;
  Hash128 chain_hash_;
  ConsumerStats stats_;
  std::vector<std::unique_ptr<Thread>> threads_;

  bool started_ = false;  // Of Next() alone.
};

}  // namespace batchweave
