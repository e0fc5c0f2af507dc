#include "batchweave/base/threads.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <vector>

#include "batchweave/base/clock.h"
#include "batchweave/base/random.h"

namespace batchweave {
namespace {

TEST(SystemThreadsTest, DestroyingAThreadJoinsIt) {
  SystemThreads threads;
  std::atomic<int> ran = 0;
  {
    std::vector<std::unique_ptr<Thread>> started;
    for (int i = 0; i < 8; ++i) started.push_back(threads.Start("counter", [&] { ++ran; }));
  }
  EXPECT_EQ(ran, 8);
}

TEST(SystemThreadsTest, AThreadBearsTheFirstFifteenBytesOfItsName) {
  SystemThreads threads;
  std::array<char, 16> name{};
  threads
      .Start("a name of more than fifteen bytes", [&] { pthread_getname_np(pthread_self(), name.data(), name.size()); })
      .reset();
  EXPECT_STREQ(name.data(), "a name of more ");
}

TEST(SystemClockTest, AWaitEndsWhenNotified) {
  SystemClock clock;
  SystemThreads threads;
  std::mutex mutex;
  Condition condition;
  bool ready = false;
  std::unique_lock lock(mutex);
  const auto notifier = threads.Start("notifier", [&] {
    {
      std::lock_guard inner(mutex);
      ready = true;
    }
    clock.NotifyAll(condition);
  });
  EXPECT_TRUE(WaitUntil(clock, condition, lock, kForever, [&] { return ready; }));
  lock.unlock();
}

TEST(SystemClockTest, AWaitWhoseDeadlineHasPassedDoesNotWait) {
  SystemClock clock;
  std::mutex mutex;
  Condition condition;
  std::unique_lock lock(mutex);
  EXPECT_FALSE(WaitUntil(clock, condition, lock, clock.Now(), [] { return false; }));
  EXPECT_TRUE(WaitUntil(clock, condition, lock, clock.Now(), [] { return true; }));
}

TEST(SystemClockTest, SleepsNoShorterThanAsked) {
  SystemClock clock;
  const TimePoint deadline = After(clock.Now(), std::chrono::milliseconds(1));
  clock.SleepUntil(deadline);
  EXPECT_GE(clock.Now(), deadline);
}

TEST(ClockTest, AfterStopsAtForever) {
  const TimePoint now = SystemClock().Now();
  EXPECT_EQ(After(now, Duration::max()), kForever);
  EXPECT_EQ(After(kForever, Duration(1)), kForever);
  EXPECT_EQ(After(now, Duration(1)), now + Duration(1));
}

class FixedRandom final : public Random {
 public:
  explicit FixedRandom(uint64_t value) : value_(value) {}
  uint64_t Next() override { return value_; }

 private:
  const uint64_t value_;
};

TEST(RandomTest, AUnitIsBelowOne) {
  FixedRandom least(0);
  FixedRandom most(UINT64_MAX);
  EXPECT_EQ(NextUnit(least), 0.0);
  EXPECT_LT(NextUnit(most), 1.0);
}

TEST(RandomTest, TheSystemsNumbersDiffer) {
  SystemRandom random;
  EXPECT_NE(random.Next(), random.Next());
}

}  // namespace
}  // namespace batchweave
