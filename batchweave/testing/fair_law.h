// The law `fair` of docs/commit-control.md: the best that a committer can do alone, to compare with.
//
// Each committer shares the log with N producers, of which it sees the traces in the manifests that it reads anyway. It
// spaces its attempts by N times the measured length of one attempt, jittered, so that together they load the log to
// about `load`, whatever N and however slow the manifest has become. A lone producer never waits.
#pragma once

#include <cstddef>

#include "batchweave/producer/commit_law.h"

namespace batchweave {

struct FairLawOptions {
  // Attempts per attempt time, over all committers. By s = W(load) the share that wins falls beyond 1, and below 0.6
  // the log stands idle; 0.8 is the middle.
  double load = 0.8;
};

class FairLaw final : public CommitLaw {
 public:
  explicit FairLaw(FairLawOptions options = {});

  void OnVersionSeen(TimePoint now, const Seen& seen) override;
  void OnAttempt(const Attempt& attempt, double unit) override;
  Decision Decide(TimePoint now, const Pending& pending) const override;

 private:
  Duration Interval() const;

  const FairLawOptions options_;
  size_t contenders_ = 1;     // N: the others and this one.
  Duration attempt_time_{0};  // T: moving average of the own measured attempts.
  TimePoint next_try_{};
  TimePoint seen_at_{};     // When the newest version was last looked at.
  Duration look_after_{0};  // How long after seen_at_ the next look is.
  bool quiet_ = true;       // The last look found the log where it was.
};

}  // namespace batchweave
