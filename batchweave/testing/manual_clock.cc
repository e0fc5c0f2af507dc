#include "batchweave/testing/manual_clock.h"

#include <algorithm>

namespace batchweave {
namespace {

// The first second of 2026, at the clock's zero.
constexpr Duration kWallStart = std::chrono::seconds(1767225600);

}  // namespace

TimePoint ManualClock::Now() {
  std::lock_guard own(mutex_);
  return now_;
}

Duration ManualClock::WallNow() { return kWallStart + Now().time_since_epoch(); }

void ManualClock::SleepUntil(TimePoint deadline) {
  std::unique_lock own(mutex_);
  BlockUntil(own, deadline, /*wake_on_notify=*/false);
}

void ManualClock::Wait(Condition& /*condition*/, std::unique_lock<std::mutex>& lock, TimePoint deadline) {
  std::unique_lock own(mutex_);
  // Taken before the caller's lock is let go, so that no notification falls between.
  lock.unlock();
  BlockUntil(own, deadline, /*wake_on_notify=*/true);
  own.unlock();
  lock.lock();
}

void ManualClock::NotifyAll(Condition& /*condition*/) {
  std::lock_guard own(mutex_);
  ++notifications_;
  changed_.notify_all();
}

void ManualClock::Advance(Duration by) {
  std::lock_guard own(mutex_);
  now_ = After(now_, by);
  changed_.notify_all();
}

void ManualClock::AwaitSleepers(size_t count) {
  std::unique_lock own(mutex_);
  changed_.wait(own, [&] { return sleepers_ >= count; });
}

void ManualClock::BlockUntil(std::unique_lock<std::mutex>& own, TimePoint deadline, bool wake_on_notify) {
  if (mode_ == Mode::kAutoAdvance && deadline != kForever) {
    now_ = std::max(now_, deadline);
    changed_.notify_all();
    return;
  }
  const size_t seen = notifications_;
  ++sleepers_;
  changed_.notify_all();
  changed_.wait(own, [&] { return now_ >= deadline || (wake_on_notify && notifications_ != seen); });
  --sleepers_;
}

}  // namespace batchweave
