// How long to wait before trying again, and how often.
#pragma once

#include <cstddef>

#include "batchweave/base/clock.h"
#include "batchweave/base/random.h"

namespace batchweave {

struct RetryPolicy {
  Duration first_delay = std::chrono::milliseconds(50);  // About one round trip to a cloud store.
  Duration delay_max = std::chrono::seconds(2);          // A Close() takes effect within this.
  // The delays of ten tries add up to 8 s on average: longer than a store takes to split a hot prefix, short enough for a
  // person to see that it is down.
  size_t attempts_max = 10;
};

// The waits between the attempts of one operation: uniform between nothing and a bound that doubles ("full jitter"), so
// that those who failed together do not come back together. Not safe for concurrent use.
class Backoff {
 public:
  // `clock` and `random` must outlive it.
  Backoff(Clock& clock, Random& random, RetryPolicy policy, TimePoint deadline);

  // Sleeps before the next attempt. False, at once, where there shall be none: all attempts are used, or the deadline
  // would come first.
  bool Wait();

 private:
  Clock& clock_;
  Random& random_;
  const RetryPolicy policy_;
  const TimePoint deadline_;
  size_t attempts_ = 1;  // Made or begun.
  Duration bound_;
};

}  // namespace batchweave
