#include "batchweave/consumer/poll_pace.h"

#include <algorithm>

namespace batchweave {
namespace {

// A poll adds half of its interval to a step's latency on average: an eighth of the gap adds a sixteenth.
constexpr int kPollsPerGap = 8;

// Weight of the newest gap: follows a change within a few versions, and is not thrown by one.
constexpr double kNewestWeight = 0.25;

// Each wait is drawn from 1 - kJitter to 1 + kJitter of the interval.
constexpr double kJitter = 0.5;

Duration Scale(Duration duration, double factor) {
  return Duration(static_cast<Duration::rep>(static_cast<double>(duration.count()) * factor));
}

}  // namespace

void PollPace::OnVersion(TimePoint now) {
  // A version that was there at the first question was not waited for: it tells nothing.
  if (!waiting_since_) return;
  const Duration newest = now - *waiting_since_;
  gap_ = gap_ == Duration{} ? newest : gap_ + Scale(newest - gap_, kNewestWeight);
  waiting_since_.reset();
}

Duration PollPace::AfterNothing(TimePoint now, double unit) {
  if (!waiting_since_) waiting_since_ = now;
  const Duration gap = std::max(gap_, now - *waiting_since_);
  const Duration interval = std::clamp(gap / kPollsPerGap, limits_.min, limits_.max);
  return std::clamp(Scale(interval, 1 - kJitter + 2 * kJitter * unit), limits_.min, limits_.max);
}

}  // namespace batchweave
