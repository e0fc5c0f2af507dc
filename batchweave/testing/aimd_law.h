// A law to compare with: additive increase and multiplicative decrease, as congestion control does. The rate of attempts
// rises by a step with each win and is halved by each loss.
#pragma once

#include <algorithm>

#include "batchweave/producer/commit_law.h"

namespace batchweave {

class AimdLaw final : public CommitLaw {
 public:
  void OnVersionSeen(TimePoint /*now*/, const Seen& /*seen*/) override {}
  void OnAttempt(const Attempt& attempt, double unit) override {
    per_s_ = attempt.won ? std::min(kPerSecondMax, per_s_ + kStep) : std::max(kPerSecondMin, per_s_ / 2);
    const std::chrono::duration<double> interval((0.5 + unit) / per_s_);
    next_try_ = After(attempt.ended, std::chrono::duration_cast<Duration>(interval));
  }
  Decision Decide(TimePoint now, const Pending& /*pending*/) const override {
    return {.action = Action::kTry, .at = next_try_ > now ? next_try_ : now};
  }

 private:
  static constexpr double kStep = 0.1;
  static constexpr double kPerSecondMax = 20;         // About one attempt after another on a fast cloud store.
  static constexpr double kPerSecondMin = 1.0 / 300;  // Five minutes: else who lost often would never come back.

  double per_s_ = 1;
  TimePoint next_try_{};
};

}  // namespace batchweave
