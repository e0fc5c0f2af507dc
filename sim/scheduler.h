// Simulated time, and fibres that live in it: a whole fleet runs on one thread of the system, one fibre at a time, in an
// order that follows from the seed alone.
//
// A fibre gives way only in Suspend(), which every simulated wait and request ends in. So the mutexes of the library,
// which are never held across one (base/clock.h), are never contended here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "batchweave/base/clock.h"

namespace batchweave::sim {

// Since the beginning of the simulation. The true time, which no process sees: each has a clock of its own.
using SimTime = Duration;

struct FiberId {
  uint64_t value = 0;
  friend bool operator==(const FiberId&, const FiberId&) = default;
};

// One coming wake-up of one fibre. Used late, or twice, it does nothing.
struct Wakeup {
  FiberId fiber{};
  uint64_t suspension = 0;
};

// Says when a fibre may run: the process that it belongs to may be stopped.
class FiberOwner {
 public:
  virtual ~FiberOwner() = default;
  virtual SimTime RunsFrom() const = 0;
};

class Scheduler {
 public:
  Scheduler();
  ~Scheduler();  // All fibres must have ended; see running().

  SimTime now() const { return now_; }
  size_t running() const { return fibers_.size(); }

  // Runs `action` at `when` (now, where that is past), on no fibre: it must not suspend.
  void At(SimTime when, std::function<void()> action);

  // Starts a fibre, which first runs when the simulation goes on. `owner` must outlive it.
  FiberId Start(const FiberOwner& owner, std::function<void()> body);
  bool Ended(FiberId fiber) const { return !fibers_.contains(fiber.value); }

  // For the fibre that runs: the wake-up of its next Suspend(), for others to use.
  Wakeup NextWakeup() const;
  // Gives way until `fiber` has ended.
  void Join(FiberId fiber);
  // Gives way until woken.
  void Suspend();
  void SuspendUntil(SimTime when);
  void Wake(const Wakeup& wakeup);
  // Wakes the fibre from whatever it waits for.
  void WakeNow(FiberId fiber);

  // Does the next thing, and moves the time to it. False: nothing is left to happen.
  bool RunOne();

 private:
  struct Fiber;
  struct Event {
    SimTime when;
    uint64_t number;  // What was asked for first happens first.
    std::function<void()> action;
    bool operator<(const Event& other) const { return when != other.when ? when > other.when : number > other.number; }
  };

  void Resume(FiberId id, uint64_t suspension);

  SimTime now_{};
  std::priority_queue<Event> events_;
  uint64_t next_event_ = 0;
  std::unordered_map<uint64_t, std::unique_ptr<Fiber>> fibers_;
  uint64_t next_fiber_ = 0;
  Fiber* current_ = nullptr;
};

}  // namespace batchweave::sim
