// The law `combining` of docs/commit-control.md: what users get.
//
// Whoever commits, commits what all have announced. Alone, or among few, a committer tries at once. Among many it announces
// and waits: who has committed for others goes on to do so at once, as long as there is something to take. Only where an
// announcement outlives its turn does its owner try, by a lot that so many others draw as there were producers in a
// version, and which is twice as likely at each turn that passes.
#pragma once

#include <cstddef>

#include "batchweave/producer/commit_law.h"

namespace batchweave {

class CombiningLaw final : public CommitLaw {
 public:
  void OnVersionSeen(TimePoint now, const Seen& seen) override;
  void OnAttempt(const Attempt& attempt, double unit) override;
  bool GoesOn(TimePoint now, size_t announced, double unit) override;
  void OnNothing(TimePoint now) override;
  void OnAnnounced(TimePoint began, TimePoint ended, double unit) override;
  void OnPassed(TimePoint now, double unit) override;
  void OnTaken() override;
  bool serves() const override { return serves_; }
  Decision Decide(TimePoint now, const Pending& pending) const override;

 private:
  // Between two commits, as far as is known, and never far from the length of an attempt.
  Duration Gap() const;
  void DrawTurn(TimePoint now, double unit);
  void Settle();

  bool lone_ = true;          // No other committer has left a trace among the recent entries.
  double crowd_ = 0;          // Producers of others that a version takes in, on average.
  Duration attempt_time_{0};  // T: the moving average of the own attempts.
  Duration gap_{0};           // The moving average of the time between two versions.
  TimePoint seen_at_{};       // When a version was last seen.
  bool contended_ = false;    // The last attempt was lost: others are at it too.
  bool serves_ = false;
  int idle_looks_ = 0;  // That found nothing to take, one after the other.
  TimePoint look_at_{};
  bool drawn_ = false;  // The lot fell on this one: it tries.
  int passed_ = 0;      // Turns that came while the announcement was there.
  TimePoint turn_at_{};
  TimePoint announce_at_{};  // What was uploaded since is announced no sooner.
};

}  // namespace batchweave
