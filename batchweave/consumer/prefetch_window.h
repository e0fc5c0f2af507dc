// The steps that are being fetched ahead, in order: which to fetch next, how much memory they may take, what the one at
// the position has come to. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "batchweave/base/clock.h"
#include "batchweave/base/result.h"
#include "batchweave/consumer/rank_batch.h"
#include "batchweave/consumer/step_index.h"

namespace batchweave {

// How long to wait after the `failures`-th (from 1) failure in a row. `unit` is uniform in [0, 1): ranks that failed
// together must not come back together.
Duration RetryDelay(uint32_t failures, double unit);

// True where trying again may help and `failures` in a row are not yet too many: I12.
bool WorthRetrying(ErrorCode code, uint32_t failures);

// Not safe for concurrent use.
class PrefetchWindow {
 public:
  struct Limits {
    uint32_t steps_max;  // >= 1.
    uint64_t bytes_max;
  };
  PrefetchWindow(Step position, Limits limits) : limits_(limits), position_(position) {}

  enum class State { kWaiting, kFetching, kReady, kFailed, kSkipped };
  struct Slot {
    KnownStep known;
    State state = State::kWaiting;
    uint64_t bytes = 0;  // Expected, until it is ready.
    TimePoint known_since{};
    TimePoint not_before{};           // kWaiting: after a failure.
    uint32_t failures = 0;            // In a row.
    std::optional<Error> last_error;  // Of the last failure.
    std::optional<RankBatch> batch;   // kReady.
  };

  Step position() const { return position_; }
  bool HasRoom() const { return slots_.size() < limits_.steps_max; }

  // The step after those that the window has; there must be room.
  void Admit(KnownStep known, uint64_t expected_bytes, TimePoint now);
  // The same for a step that is not to be read.
  void AdmitSkipped(KnownStep known);

  // Moves the position past steps that are not to be read. True where there were some: there is room again.
  bool PassSkipped();

  // The next step to fetch now, in the order of steps and within the budget of bytes; the step at the position always
  // fits. It is given out once, until Complete().
  std::optional<KnownStep> TakeFetch(TimePoint now);

  // When next a step that waits after a failure may be given out; kForever where none waits at `now`.
  TimePoint NextRetry(TimePoint now) const;

  // How a fetch that was given out ended; after a failure that is worth it, it is given out again later.
  void Complete(Step step, Result<RankBatch> result, TimePoint now, double unit);

  // The step at the position; null where the window is empty.
  const Slot* head() const { return slots_.empty() ? nullptr : &slots_.front(); }

  // Hands out the batch at the position, which must be ready, and moves the position on.
  Slot TakeHead();

  // A failed step at the position is tried anew.
  void RetryHead();

  uint64_t retries() const { return retries_; }
  uint64_t ready_bytes() const;

 private:
  Slot& SlotOf(Step step) { return slots_[step.value - position_.value]; }
  uint64_t ReservedBytes() const;

  const Limits limits_;
  Step position_;
  std::deque<Slot> slots_;  // Of position_ and the steps after it.
  uint64_t retries_ = 0;
};

}  // namespace batchweave
