#include "batchweave/store/backoff.h"

#include <algorithm>

#include "batchweave/base/mutation.h"

namespace batchweave {

Backoff::Backoff(Clock& clock, Random& random, RetryPolicy policy, TimePoint deadline)
    : clock_(clock), random_(random), policy_(policy), deadline_(deadline), bound_(policy.first_delay) {}

bool Backoff::Wait() {
  const bool bounded = !BW_MUTATION(kRetriesForEver);
  if (bounded && attempts_ >= policy_.attempts_max) return false;
  const auto delay = Duration(static_cast<Duration::rep>(NextUnit(random_) * static_cast<double>(bound_.count())));
  const TimePoint until = After(clock_.Now(), delay);
  if (bounded && until >= deadline_) return false;
  ++attempts_;
  bound_ = std::min(2 * bound_, policy_.delay_max);
  clock_.SleepUntil(until);
  return true;
}

}  // namespace batchweave
