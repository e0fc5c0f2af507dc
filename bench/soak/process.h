// A process of a soak, as its parent sees it: how it ended, and how its memory grew.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>

#include "batchweave/base/clock.h"
#include "batchweave/base/result.h"

namespace batchweave::bench {

enum class Ending {
  kRuns,
  kDone,
  kFailed,  // With an error that a restart may mend: the store or the machine was slow.
  kBroken,  // With any other error, or by a signal that nobody sent.
};

// A forked child that runs `body` and ends. The parent must have one thread. Destroying it kills the child.
class SoakProcess {
 public:
  // Its memory counts from `settled_at` on.
  SoakProcess(const std::function<Result<void>()>& body, TimePoint settled_at);
  ~SoakProcess();
  SoakProcess(const SoakProcess&) = delete;
  SoakProcess& operator=(const SoakProcess&) = delete;

  Ending Poll();
  void Kill();
  // Stops it where it is, as a machine does that sleeps or swaps, until it is told to go on.
  void Pause();
  void GoOn();
  // Compares its memory with what it was when it had settled.
  void Sample(TimePoint now);
  uint64_t growth_kib() const { return growth_kib_; }
  bool was_sampled() const { return settled_kib_ != 0; }

 private:
  pid_t id_;
  Ending ending_ = Ending::kRuns;
  TimePoint settled_at_;
  uint64_t settled_kib_ = 0;
  uint64_t growth_kib_ = 0;
};

}  // namespace batchweave::bench
