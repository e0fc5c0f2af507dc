#include "sim/process.h"

#include <algorithm>
#include <utility>

#include "batchweave/base/check.h"

namespace batchweave::sim {
namespace {

// A monotonic clock begins anywhere.
constexpr Duration kClockStart = std::chrono::hours(1);
constexpr Duration kWallStart = std::chrono::hours(24 * 365 * 56);
constexpr Duration kBeyondAllPlans = std::chrono::hours(24 * 365 * 50);
constexpr uint64_t kCallsAfterDeathMax = 100'000;

class SimThread final : public Thread {
 public:
  SimThread(Scheduler& scheduler, FiberId fiber) : scheduler_(scheduler), fiber_(fiber) {}
  ~SimThread() override { scheduler_.Join(fiber_); }
  SimThread(const SimThread&) = delete;
  SimThread& operator=(const SimThread&) = delete;

 private:
  Scheduler& scheduler_;
  FiberId fiber_;
};

}  // namespace

SimClock::SimClock(Machine machine, Process& process, ClockError error)
    : machine_(machine), process_(process), error_(error) {}

TimePoint SimClock::Now() {
  const auto passed = std::chrono::duration_cast<Duration>(machine_.scheduler.now() * error_.rate);
  return TimePoint(kClockStart + passed + leapt_);
}

Duration SimClock::WallNow() { return kWallStart + machine_.scheduler.now() + error_.wall_skew; }

SimTime SimClock::TrueTimeOf(TimePoint deadline) const {
  if (deadline == kForever) return SimTime::max();
  const Duration passed = deadline.time_since_epoch() - kClockStart - leapt_;
  if (passed > kBeyondAllPlans) return SimTime::max();
  // Rounded up: to wake just before a deadline is to wait for it once more.
  return std::chrono::duration_cast<SimTime>(passed / error_.rate) + SimTime(1);
}

void SimClock::LeapTo(TimePoint deadline) {
  if (deadline > Now()) leapt_ += deadline - Now();
}

void SimClock::SleepUntil(TimePoint deadline) {
  while (Now() < deadline) {
    if (process_.dead()) {
      process_.YieldDead();
      LeapTo(deadline);
      return;
    }
    machine_.scheduler.SuspendUntil(TrueTimeOf(deadline));
  }
}

void SimClock::Wait(Condition& condition, std::unique_lock<std::mutex>& lock, TimePoint deadline) {
  if (Now() >= deadline) return;
  lock.unlock();
  if (process_.dead() && deadline != kForever) {
    process_.YieldDead();
    LeapTo(deadline);
  } else {
    const Wakeup wakeup = machine_.scheduler.NextWakeup();
    std::vector<Wakeup>& waiting = waiting_[&condition];
    waiting.push_back(wakeup);
    if (machine_.network.DrawsSpuriousWakeup()) machine_.scheduler.Wake(wakeup);
    if (deadline == kForever) {
      machine_.scheduler.Suspend();
    } else {
      machine_.scheduler.SuspendUntil(TrueTimeOf(deadline));
    }
    std::erase_if(waiting_[&condition], [&](const Wakeup& other) { return other.fiber == wakeup.fiber; });
    if (waiting_[&condition].empty()) waiting_.erase(&condition);
  }
  lock.lock();
}

void SimClock::NotifyAll(Condition& condition) {
  const auto waiting = waiting_.find(&condition);
  if (waiting == waiting_.end()) return;
  for (const Wakeup& wakeup : waiting->second) machine_.scheduler.Wake(wakeup);
}

std::unique_ptr<Thread> SimThreads::Start(std::string /*name*/, std::function<void()> body) {
  return std::make_unique<SimThread>(process_.machine().scheduler, process_.Run(std::move(body)));
}

Process::Process(Machine machine, std::string name, uint64_t seed, ClockError error, bool retries)
    : machine_(machine),
      name_(std::move(name)),
      random_(seed),
      clock_(machine, *this, error),
      threads_(*this),
      store_(machine, *this),
      retrying_store_(store_, clock_, random_),
      retries_(retries) {}

FiberId Process::Run(std::function<void()> body) {
  std::erase_if(fibers_, [&](FiberId fiber) { return machine_.scheduler.Ended(fiber); });
  fibers_.push_back(machine_.scheduler.Start(*this, std::move(body)));
  return fibers_.back();
}

bool Process::idle() const {
  return std::ranges::all_of(fibers_, [&](FiberId fiber) { return machine_.scheduler.Ended(fiber); });
}

void Process::Kill() {
  if (std::exchange(dead_, true)) return;
  machine_.trace.Add(machine_.scheduler.now(), name_, "is killed", "", "");
  for (const FiberId fiber : fibers_) machine_.scheduler.WakeNow(fiber);
}

void Process::PauseUntil(SimTime until) {
  machine_.trace.Add(machine_.scheduler.now(), name_, "is stopped", "", TimeText(until));
  runs_from_ = std::max(runs_from_, until);
  pauses_ += 1;
}

bool Process::stopped() const { return RunsFrom() > machine_.scheduler.now(); }

void Process::YieldDead() {
  calls_after_death_ += 1;
  BW_CHECK(calls_after_death_ < kCallsAfterDeathMax);  // I12: something tries again without bound.
  machine_.scheduler.SuspendUntil(machine_.scheduler.now() + std::chrono::microseconds(10));
}

}  // namespace batchweave::sim
