// One simulated process: a clock, chance, threads and a way to the store of its own, and nothing shared with any other.
//
// A process that is killed does nothing more: what it had sent may still arrive, but none of its later calls reaches the
// store, whatever its fibres do until they end. To make them end soon, each wait of a dead process is over at once.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "batchweave/store/env.h"
#include "batchweave/store/retrying_store.h"
#include "batchweave/testing/seeded_random.h"
#include "sim/client_store.h"
#include "sim/machine.h"

namespace batchweave::sim {

// How wrong a clock is.
struct ClockError {
  double rate = 1;       // Its seconds a true second.
  Duration wall_skew{};  // Of its wall clock.
};

class Process;

class SimClock final : public Clock {
 public:
  SimClock(Machine machine, Process& process, ClockError error);

  TimePoint Now() override;
  Duration WallNow() override;
  void SleepUntil(TimePoint deadline) override;
  void Wait(Condition& condition, std::unique_lock<std::mutex>& lock, TimePoint deadline) override;
  void NotifyAll(Condition& condition) override;

  void JumpWall(Duration by) { error_.wall_skew += by; }
  // Of a dead process, whose time passes by leaps.
  void Leap(Duration by) { leapt_ += by; }

 private:
  SimTime TrueTimeOf(TimePoint deadline) const;
  void LeapTo(TimePoint deadline);

  Machine machine_;
  Process& process_;
  ClockError error_;
  Duration leapt_{};
  std::unordered_map<const Condition*, std::vector<Wakeup>> waiting_;
};

class SimThreads final : public Threads {
 public:
  explicit SimThreads(Process& process) : process_(process) {}
  std::unique_ptr<Thread> Start(std::string name, std::function<void()> body) override;

 private:
  Process& process_;
};

class Process final : public FiberOwner {
 public:
  // The parts of `machine` must outlive the process, and it its fibres.
  // `retries`: the store is wrapped, as it is in front of a server, so that what nobody minds repeating is repeated.
  Process(Machine machine, std::string name, uint64_t seed, ClockError error, bool retries);

  const std::string& name() const { return name_; }
  const Machine& machine() const { return machine_; }
  Env env() {
    return {.store = retries_ ? static_cast<ObjectStore&>(retrying_store_) : store_,
            .clock = clock_,
            .random = random_,
            .threads = threads_};
  }
  Random& random() { return random_; }
  SimClock& clock() { return clock_; }

  FiberId Run(std::function<void()> body);
  bool idle() const;

  void Kill();
  bool dead() const { return dead_; }
  // It is stopped until then, as by SIGSTOP: requests under way go on without it.
  void PauseUntil(SimTime until);
  bool stopped() const;
  uint64_t pauses() const { return pauses_; }
  // What it read was damaged on its way; until all that it had to commit is committed, it may tell of that.
  void OnDamage() { met_damage_ = true; }
  void ForgetDamage() { met_damage_ = false; }
  bool met_damage() const { return met_damage_; }
  SimTime RunsFrom() const override { return dead_ ? SimTime{} : runs_from_; }

  // What a wait or a request of a dead process does instead: gives way, so that its other fibres may end, and counts.
  void YieldDead();

 private:
  Machine machine_;
  const std::string name_;
  SeededRandom random_;
  SimClock clock_;
  SimThreads threads_;
  ClientStore store_;
  RetryingStore retrying_store_;
  const bool retries_;
  std::vector<FiberId> fibers_;
  SimTime runs_from_{};
  uint64_t pauses_ = 0;
  bool met_damage_ = false;
  bool dead_ = false;
  uint64_t calls_after_death_ = 0;  // One that goes on and on would never end in a living process either.
};

}  // namespace batchweave::sim
