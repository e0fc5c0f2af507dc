// A producer or a rank of the demo, over all its lives: it is killed, and comes back.
//
// Not safe for concurrent use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "batchweave/base/clock.h"
#include "batchweave/base/result.h"
#include "examples/demo/process/child.h"
#include "examples/demo/process/progress_report.h"

namespace batchweave::demo {

class Worker {
 public:
  enum class State { kStarting, kRunning, kKilled, kEnded };

  // Does not start it. `clock` must outlive the worker. Where it is to be killed at a position it stands still there, so
  // that it is killed however late that is seen.
  Worker(Child::Command command, Clock& clock, std::optional<uint64_t> killed_at = {});

  // Errors: as Child::Start.
  Result<void> Start();

  // kill -9, if it runs; Observe starts it again `restart_after` from now.
  void Kill(Duration restart_after);

  // Takes in what it reported since the last call and whether it ended; starts it again if that is due. Returns the
  // reports. Errors: kUnavailable (it failed; the message has the last line of its log).
  Result<std::vector<ProgressReport>> Observe();

  const std::string& name() const { return command_.name; }
  State state() const { return state_; }
  bool ended() const { return state_ == State::kEnded; }
  uint64_t position() const { return position_; }  // The newest report's `at`.
  uint64_t saved() const { return saved_; }        // The newest report's.
  double share() const { return share_; }          // The newest report's.
  uint64_t restarts() const { return starts_ - 1; }
  // What all its lives got, from all reports.
  uint64_t bytes() const { return earlier_.bytes + now_.bytes; }
  uint64_t requests() const { return earlier_.requests + now_.requests; }

 private:
  struct Received {
    uint64_t bytes = 0;
    uint64_t requests = 0;
  };
  void TakeIn(const ProgressReport& report);

  const Child::Command command_;
  const std::optional<uint64_t> killed_at_;
  Clock* clock_;
  State state_ = State::kStarting;
  std::optional<Child> child_;
  uint64_t starts_ = 0;
  TimePoint restart_at_{};
  uint64_t position_ = 0;
  uint64_t saved_ = 0;
  double share_ = 0;
  Received earlier_;  // By lives that are over.
  Received now_;
};

}  // namespace batchweave::demo
