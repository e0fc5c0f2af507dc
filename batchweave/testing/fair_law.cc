#include "batchweave/testing/fair_law.h"

#include <algorithm>

namespace batchweave {
namespace {

// A log that stood still for this many attempt times has no attempt of another under way that began before.
constexpr int kQuietAttempts = 3;

}  // namespace

FairLaw::FairLaw(FairLawOptions options) : options_(options) {}

void FairLaw::OnVersionSeen(TimePoint now, const Seen& seen) {
  const bool moved = seen.versions > 0;
  contenders_ = seen.others + 1;
  seen_at_ = now;
  quiet_ = !moved;
  // Each look that finds the log busy makes the next one rarer: a look is a request too.
  look_after_ = moved ? std::max(look_after_ * 2, attempt_time_ * kQuietAttempts) : attempt_time_ * kQuietAttempts;
}

void FairLaw::OnAttempt(const Attempt& attempt, double unit) {
  attempt_time_ = Average(attempt_time_, attempt.ended - attempt.began);
  const Duration spread = attempt.won ? Interval() : std::max(attempt_time_ * 2, Interval() / 4);
  next_try_ = After(attempt.ended, Scale(spread, 0.5 + unit));
  seen_at_ = attempt.ended;
  quiet_ = false;
  look_after_ = attempt_time_ * kQuietAttempts;
}

CommitLaw::Decision FairLaw::Decide(TimePoint now, const Pending& /*pending*/) const {
  if (contenders_ == 1) return {.action = Action::kTry, .at = now};
  if (quiet_ || now >= next_try_) return {.action = Action::kTry, .at = now};
  const TimePoint look_at = After(seen_at_, look_after_);
  if (look_at < next_try_) return {.action = Action::kLook, .at = std::max(now, look_at)};
  return {.action = Action::kTry, .at = next_try_};
}

Duration FairLaw::Interval() const { return Scale(attempt_time_, static_cast<double>(contenders_) / options_.load); }

}  // namespace batchweave
