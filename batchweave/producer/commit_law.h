// When a committer tries: observations in, decisions out. Pure, and the same object in production, in the simulator and in
// tests. `fair` (fair_law.h) is what users get; the laws that it is compared with are in testing/.
#pragma once

#include <cstddef>

#include "batchweave/base/clock.h"

namespace batchweave {

class CommitLaw {
 public:
  virtual ~CommitLaw() = default;

  // A version was read or committed. `others`: distinct producers of other committers among its recent entries.
  // `moved`: it holds commits of others that were not seen before.
  virtual void OnVersionSeen(TimePoint now, size_t others, bool moved) = 0;

  // An attempt from its base being read to its decision. `unit` is uniform in [0, 1).
  virtual void OnAttempt(TimePoint began, TimePoint ended, bool won, double unit) = 0;

  // What to do next while there is something to commit, and when. kLook: read whether the log has moved (cheap), then
  // OnVersionSeen and ask again: where it stands still, nobody is in the way.
  enum class Action { kTry, kLook };
  struct Decision {
    Action action = Action::kTry;
    TimePoint at;
  };
  virtual Decision Decide(TimePoint now) const = 0;
};

// `duration` times `factor`, for the arithmetic of laws.
inline Duration Scale(Duration duration, double factor) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double, Duration::period>(duration) * factor);
}

}  // namespace batchweave
