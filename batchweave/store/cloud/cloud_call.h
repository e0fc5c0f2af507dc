// What the calls of cloud_abi.h have in common.
#pragma once

#include <chrono>
#include <string_view>

#include "batchweave/base/error.h"
#include "batchweave/store/backoff.h"
#include "batchweave/store/cloud/cloud_abi.h"

namespace batchweave {

inline BwcView ViewOf(std::string_view text) { return {.data = text.data(), .size = text.size()}; }
inline std::string_view TextOf(BwcView view) { return {static_cast<const char*>(view.data), view.size}; }

// Of a call that failed: `what` ("put") and the key, where it was of one.
Error ErrorOf(const BwcStatus& status, std::string_view what, std::string_view key);

// Tries a call again while nothing happened. Safe for concurrent use.
class CloudRetry {
 public:
  // `clock` and `random` must outlive it.
  CloudRetry(Clock& clock, Random& random, RetryPolicy policy) : clock_(clock), random_(random), policy_(policy) {}

  // `attempt(BwcStatus*)` until it ends in something else than kBwcUnavailable, with full jitter and no earlier than the
  // server asked for.
  template <typename Attempt>
  BwcStatus Run(Attempt attempt) const {
    const TimePoint deadline = After(clock_.Now(), kRetryFor);
    Backoff backoff(clock_, random_, policy_, deadline);
    for (;;) {
      BwcStatus status{};
      attempt(&status);
      if (status.code != kBwcUnavailable) return status;
      const TimePoint allowed = After(clock_.Now(), std::chrono::milliseconds(status.retry_after_ms));
      if (allowed >= deadline || !backoff.Wait()) return status;
      clock_.SleepUntil(allowed);
    }
  }

 private:
  // A person who mistyped an endpoint should not wait longer; who rides out a longer outage retries above. No longer than
  // one request may take (open.rs): who had no answer at all does not ask again.
  static constexpr Duration kRetryFor = std::chrono::seconds(9);

  Clock& clock_;
  Random& random_;
  const RetryPolicy policy_;
};

}  // namespace batchweave
