// A clock that a test moves, so that hours pass in no time and no test sleeps.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

#include "batchweave/base/clock.h"

namespace batchweave {

// Safe for concurrent use.
class ManualClock final : public Clock {
 public:
  enum class Mode {
    kManual,       // Moves by Advance() alone; whoever sleeps or waits stays there until then.
    kAutoAdvance,  // Jumps to the deadline of whoever sleeps or waits, at once. A wait until kForever waits to be
                   // notified.
  };

  explicit ManualClock(Mode mode = Mode::kAutoAdvance) : mode_(mode) {}

  TimePoint Now() override;
  Duration WallNow() override;
  void SleepUntil(TimePoint deadline) override;
  void Wait(Condition& condition, std::unique_lock<std::mutex>& lock, TimePoint deadline) override;
  void NotifyAll(Condition& condition) override;

  // Moves the clock, and wakes whoever's deadline has come.
  void Advance(Duration by);

  // Blocks until at least `count` threads sleep or wait on this clock. A test whose threads never come hangs here.
  void AwaitSleepers(size_t count);

 private:
  void BlockUntil(std::unique_lock<std::mutex>& own, TimePoint deadline, bool wake_on_notify);

  const Mode mode_;
  std::mutex mutex_;
  std::condition_variable changed_;
  TimePoint now_{std::chrono::hours(1)};
  size_t notifications_ = 0;  // Of all conditions together: a waiter may wake for no reason.
  size_t sleepers_ = 0;
};

}  // namespace batchweave
