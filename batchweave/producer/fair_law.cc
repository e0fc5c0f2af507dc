#include "batchweave/producer/fair_law.h"

#include <algorithm>

namespace batchweave {
namespace {

// The moving average forgets half of the past in about five attempts: quick to follow a manifest that grows, slow to
// be fooled by one outlier.
constexpr double kAverageWeight = 0.125;

// A log that stood still for this many attempt times has no attempt of another under way that began before.
constexpr int kQuietAttempts = 3;

}  // namespace

FairLaw::FairLaw(FairLawOptions options) : options_(options) {}

void FairLaw::OnVersionSeen(TimePoint now, size_t others, bool moved) {
  contenders_ = others + 1;
  seen_at_ = now;
  quiet_ = !moved;
  // Each look that finds the log busy makes the next one rarer: a look is a request too.
  look_after_ = moved ? std::max(look_after_ * 2, attempt_time_ * kQuietAttempts) : attempt_time_ * kQuietAttempts;
}

void FairLaw::OnAttempt(TimePoint began, TimePoint ended, bool won, double unit) {
  const Duration took = ended - began;
  attempt_time_ =
      attempt_time_ == Duration{0} ? took : Scale(attempt_time_, 1 - kAverageWeight) + Scale(took, kAverageWeight);
  const Duration spread = won ? Interval() : std::max(attempt_time_ * 2, Interval() / 4);
  next_try_ = After(ended, Scale(spread, 0.5 + unit));
  seen_at_ = ended;
  quiet_ = false;
  look_after_ = attempt_time_ * kQuietAttempts;
}

CommitLaw::Decision FairLaw::Decide(TimePoint now) const {
  if (contenders_ == 1) return {.action = Action::kTry, .at = now};
  if (quiet_ || now >= next_try_) return {.action = Action::kTry, .at = now};
  const TimePoint look_at = After(seen_at_, look_after_);
  if (look_at < next_try_) return {.action = Action::kLook, .at = std::max(now, look_at)};
  return {.action = Action::kTry, .at = next_try_};
}

Duration FairLaw::Interval() const { return Scale(attempt_time_, static_cast<double>(contenders_) / options_.load); }

}  // namespace batchweave
