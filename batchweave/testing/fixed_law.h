// A law to compare with: one fixed interval, jittered, whoever else there is. What most systems do.
#pragma once

#include "batchweave/producer/commit_law.h"

namespace batchweave {

class FixedLaw final : public CommitLaw {
 public:
  explicit FixedLaw(Duration interval) : interval_(interval) {}

  void OnVersionSeen(TimePoint /*now*/, const Seen& /*seen*/) override {}
  void OnAttempt(const Attempt& attempt, double unit) override {
    next_try_ = After(attempt.ended, Scale(interval_, 0.5 + unit));
  }
  Decision Decide(TimePoint now, const Pending& /*pending*/) const override {
    return {.action = Action::kTry, .at = next_try_ > now ? next_try_ : now};
  }

 private:
  const Duration interval_;
  TimePoint next_try_{};
};

}  // namespace batchweave
