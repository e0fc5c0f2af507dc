// When a committer tries, and when it lets others commit for it: observations in, decisions out. Pure, and the same object
// in production, in the simulator and in tests. `combining` (combining_law.h) is what users get; the laws that it is
// compared with are in testing/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "batchweave/base/clock.h"

namespace batchweave {

class CommitLaw {
 public:
  virtual ~CommitLaw() = default;

  // What a version that was read, or committed, tells.
  struct Seen {
    size_t others = 0;      // Distinct producers of other committers among its recent entries.
    uint64_t versions = 0;  // That came since the one seen before. 0: the log stands where it stood.
    // Distinct producers of others that came in with one of those, about; of the first version seen: with it.
    double crowd = 0;
  };
  virtual void OnVersionSeen(TimePoint now, const Seen& seen) = 0;

  // From what it builds on being read to its decision. `unit`, here and below, is uniform in [0, 1).
  struct Attempt {
    TimePoint began{};
    TimePoint ended{};
    bool won = false;
    size_t taken = 0;  // Announcements of others that it committed.
  };
  virtual void OnAttempt(const Attempt& attempt, double unit) = 0;

  // An attempt for all found so many announcements of others: false where it had better not go on to read them.
  virtual bool GoesOn(TimePoint /*now*/, size_t /*announced*/, double /*unit*/) { return true; }
  // An attempt found nothing to commit.
  virtual void OnNothing(TimePoint /*now*/) {}
  virtual void OnAnnounced(TimePoint /*began*/, TimePoint /*ended*/, double /*unit*/) {}
  // At its turn (kAsk) what is announced was still there; or another had committed it.
  virtual void OnPassed(TimePoint /*now*/, double /*unit*/) {}
  virtual void OnTaken() {}
  // It tries for others though nothing of its own is pending.
  virtual bool serves() const { return false; }

  // What to do next while there is something to commit, and when.
  enum class Action {
    kTry,        // Commit what is pending here.
    kTryForAll,  // And what others have announced.
    kLook,       // Read whether the log has moved (cheap), then OnVersionSeen and ask again.
    kAnnounce,   // Announce what is pending here and not announced yet.
    kAsk,        // Look whether the announcement is still there: else another has committed it.
  };
  struct Decision {
    Action action = Action::kTry;
    TimePoint at;
  };
  struct Pending {
    bool announced = false;       // Something is announced and not known to be committed.
    bool unannounced = false;     // Something is not announced.
    TimePoint due_at = kForever;  // When it should be committed, by what the user asked.
  };
  virtual Decision Decide(TimePoint now, const Pending& pending) const = 0;
};

// `duration` times `factor`, for the arithmetic of laws.
inline Duration Scale(Duration duration, double factor) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double, Duration::period>(duration) * factor);
}

// The moving average of a law's observations; the first one is taken as it is. It forgets half of the past in about five:
// quick to follow a manifest that grows, slow to be fooled by one outlier.
template <typename T>
T Average(T average, T observed) {
  constexpr double kWeight = 0.125;
  if (average == T{}) return observed;
  if constexpr (std::is_same_v<T, Duration>) {
    return Scale(average, 1 - kWeight) + Scale(observed, kWeight);
  } else {
    return average * (1 - kWeight) + observed * kWeight;
  }
}

}  // namespace batchweave
