// Time, from outside: the library never reads a clock or sleeps but through this, so that the simulator sees it all.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace batchweave {

using Duration = std::chrono::nanoseconds;

// A point of the monotonic clock of one process. Never stored, never sent.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

// Waits without limit end here: about 292 years from the clock's start.
inline constexpr TimePoint kForever = TimePoint::max();

// `now + delay`, no later than kForever.
constexpr TimePoint After(TimePoint now, Duration delay) { return delay >= kForever - now ? kForever : now + delay; }

// A condition variable that waits on a Clock. Guarded by the caller's mutex, as std::condition_variable is.
// A thread that waits may be woken for no reason: wait in a loop, or by WaitUntil below.
class Condition {
 private:
  friend class SystemClock;
  std::condition_variable variable_;
};

// Safe for concurrent use. Now, WallNow and NotifyAll never block. SleepUntil and Wait may switch to any other thread:
// no mutex may be held across them but the one that Wait is given.
class Clock {
 public:
  virtual ~Clock() = default;

  virtual TimePoint Now() = 0;

  // Nanoseconds since 1970 by the wall clock: for people to read, never for a decision.
  virtual Duration WallNow() = 0;

  virtual void SleepUntil(TimePoint deadline) = 0;

  // Releases `lock`, sleeps until notified, until `deadline`, or for no reason, and takes `lock` again.
  virtual void Wait(Condition& condition, std::unique_lock<std::mutex>& lock, TimePoint deadline) = 0;
  virtual void NotifyAll(Condition& condition) = 0;
};

// Waits until `done()` holds (true) or `deadline` has passed (the last value of `done()`).
bool WaitUntil(Clock& clock, Condition& condition, std::unique_lock<std::mutex>& lock, TimePoint deadline,
               const std::function<bool()>& done);

// The operating system's clocks.
class SystemClock final : public Clock {
 public:
  TimePoint Now() override;
  Duration WallNow() override;
  void SleepUntil(TimePoint deadline) override;
  void Wait(Condition& condition, std::unique_lock<std::mutex>& lock, TimePoint deadline) override;
  void NotifyAll(Condition& condition) override;
};

}  // namespace batchweave
