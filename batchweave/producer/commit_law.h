// When a committer tries: the law `fair` of docs/commit-control.md. Pure: observations in, decisions out.
//
// Each committer shares the log with N producers, of which it sees the traces in the manifests that it reads anyway. It
// spaces its attempts by N times the measured length of one attempt, jittered, so that together they load the log to
// about `load`, whatever N and however slow the manifest has become. A lone producer never waits.
#pragma once

#include <cstddef>

#include "batchweave/base/clock.h"

namespace batchweave {

struct CommitLawOptions {
  // Attempts per attempt time, over all committers. By s = W(load) the share that wins falls beyond 1, and below 0.6
  // the log stands idle; 0.8 is the middle.
  double load = 0.8;
};

class FairLaw {
 public:
  explicit FairLaw(CommitLawOptions options = {});

  // A version was read or committed. `others`: distinct producers of other committers among its recent entries.
  // `moved`: it holds commits of others that were not seen before.
  void OnVersionSeen(TimePoint now, size_t others, bool moved);

  // An attempt from its base being read to its decision. `unit` is uniform in [0, 1).
  void OnAttempt(TimePoint began, TimePoint ended, bool won, double unit);

  // What to do next while there is something to commit, and when. kLook: read whether the log has moved (cheap), then
  // OnVersionSeen and ask again: where it stands still, nobody is in the way.
  enum class Action { kTry, kLook };
  struct Decision {
    Action action = Action::kTry;
    TimePoint at;
  };
  Decision Decide(TimePoint now) const;

 private:
  Duration Interval() const;

  const CommitLawOptions options_;
  size_t contenders_ = 1;     // N: the others and this one.
  Duration attempt_time_{0};  // T: moving average of the own measured attempts.
  TimePoint next_try_{};
  TimePoint seen_at_{};     // When the newest version was last looked at.
  Duration look_after_{0};  // How long after seen_at_ the next look is.
  bool quiet_ = true;       // The last look found the log where it was.
};

}  // namespace batchweave
