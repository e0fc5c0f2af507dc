#include "batchweave/base/clock.h"

#include <thread>

namespace batchweave {
namespace {

// Longest single wait given to the operating system: a deadline of kForever would overflow in its arithmetic.
constexpr Duration kLongestWait = std::chrono::hours(1);

}  // namespace

bool WaitUntil(Clock& clock, Condition& condition, std::unique_lock<std::mutex>& lock, TimePoint deadline,
               const std::function<bool()>& done) {
  while (!done()) {
    if (clock.Now() >= deadline) return false;
    clock.Wait(condition, lock, deadline);
  }
  return true;
}

TimePoint SystemClock::Now() { return std::chrono::steady_clock::now(); }

Duration SystemClock::WallNow() { return std::chrono::system_clock::now().time_since_epoch(); }

void SystemClock::SleepUntil(TimePoint deadline) {
  for (TimePoint now = Now(); now < deadline; now = Now()) {
    std::this_thread::sleep_for(std::min<Duration>(deadline - now, kLongestWait));
  }
}

void SystemClock::Wait(Condition& condition, std::unique_lock<std::mutex>& lock, TimePoint deadline) {
  condition.variable_.wait_until(lock, std::min(deadline, After(Now(), kLongestWait)));
}

void SystemClock::NotifyAll(Condition& condition) { condition.variable_.notify_all(); }

}  // namespace batchweave
