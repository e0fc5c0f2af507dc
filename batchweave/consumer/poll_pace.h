// How often to ask for the successor of a version that has none yet. Pure.
//
// A fixed interval is too slow for one stream and too costly for another. This one is a fraction of the time that a
// version is usually waited for, so that polling adds no more than that fraction to the wait; and a wait longer than the
// usual one counts as the usual one, so that a stream at rest is asked ever more rarely.
#pragma once

#include <optional>

#include "batchweave/base/clock.h"

namespace batchweave {

// Not safe for concurrent use.
class PollPace {
 public:
  struct Limits {
    Duration min;
    Duration max;
  };

  explicit PollPace(Limits limits) : limits_(limits) {}

  // A version was seen that was not known before.
  void OnVersion(TimePoint now);

  // How long to wait after an answer "not yet". `unit` is uniform in [0, 1): ranks that wait for one version must not
  // ask in step.
  Duration AfterNothing(TimePoint now, double unit);

 private:
  const Limits limits_;
  std::optional<TimePoint> waiting_since_;  // The first answer "not yet" since the last version.
  Duration gap_{};                          // What was waited for a version, smoothed.
};

}  // namespace batchweave
