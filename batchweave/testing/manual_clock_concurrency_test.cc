#include "batchweave/testing/manual_clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace batchweave {
namespace {

using std::chrono::hours;

TEST(ManualClockTest, MovesOnlyWhenTold) {
  ManualClock clock(ManualClock::Mode::kManual);
  const TimePoint start = clock.Now();
  const Duration wall_start = clock.WallNow();
  clock.Advance(hours(2));
  EXPECT_EQ(clock.Now(), start + hours(2));
  EXPECT_EQ(clock.WallNow(), wall_start + hours(2));
}

TEST(ManualClockTest, WakesASleeperWhenItsTimeHasCome) {
  ManualClock clock(ManualClock::Mode::kManual);
  const TimePoint deadline = clock.Now() + hours(1);
  std::thread sleeper([&] { clock.SleepUntil(deadline); });
  clock.AwaitSleepers(1);
  clock.Advance(hours(1));
  sleeper.join();
  EXPECT_EQ(clock.Now(), deadline);
}

TEST(ManualClockTest, ANotificationEndsAWait) {
  ManualClock clock(ManualClock::Mode::kManual);
  std::mutex mutex;
  Condition condition;
  bool ready = false;
  std::thread waiter([&] {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(WaitUntil(clock, condition, lock, kForever, [&] { return ready; }));
  });
  clock.AwaitSleepers(1);
  {
    std::lock_guard lock(mutex);
    ready = true;
  }
  clock.NotifyAll(condition);
  waiter.join();
}

TEST(ManualClockTest, AWaitEndsAtItsDeadline) {
  ManualClock clock(ManualClock::Mode::kManual);
  std::mutex mutex;
  Condition condition;
  const TimePoint deadline = clock.Now() + hours(1);
  std::thread waiter([&] {
    std::unique_lock lock(mutex);
    EXPECT_FALSE(WaitUntil(clock, condition, lock, deadline, [] { return false; }));
  });
  clock.AwaitSleepers(1);
  clock.Advance(hours(1));
  waiter.join();
}

TEST(ManualClockTest, AutoAdvanceJumpsToTheDeadlineOfASleeper) {
  ManualClock clock;
  const TimePoint deadline = clock.Now() + hours(100);
  clock.SleepUntil(deadline);
  EXPECT_EQ(clock.Now(), deadline);
  clock.SleepUntil(deadline - hours(1));
  EXPECT_EQ(clock.Now(), deadline);
}

TEST(ManualClockTest, AutoAdvanceWaitsForEverToBeNotified) {
  ManualClock clock;
  std::mutex mutex;
  Condition condition;
  const TimePoint start = clock.Now();
  bool ready = false;
  std::thread waiter([&] {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(WaitUntil(clock, condition, lock, kForever, [&] { return ready; }));
  });
  clock.AwaitSleepers(1);
  std::unique_lock lock(mutex);
  ready = true;
  lock.unlock();
  clock.NotifyAll(condition);
  waiter.join();
  EXPECT_EQ(clock.Now(), start);
}

}  // namespace
}  // namespace batchweave
