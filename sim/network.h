// What becomes of each request on its way to the store and back: latency by the store's profile, faults by their rates.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "batchweave/testing/seeded_random.h"
#include "batchweave/testing/store_call.h"
#include "sim/store_profile.h"

namespace batchweave::sim {

enum class FaultKind {
  kFailBefore,      // 503, nothing was done.
  kLostRequest,     // A timeout, and nothing was done.
  kApplyThenFail,   // It was done, and the answer was lost.
  kApplyLater,      // A timeout, and it is done at any time after, also when its client is long gone.
  kDuplicate,       // It is done twice, the second time at any time after.
  kConflict,        // 409 to a create: nothing was done, though nobody else did either.
  kShortBody,       // Of a read.
  kEmptyBody,       // Of a read.
  kFlippedBody,     // One bit of what was read.
  kThrottled,       // 429 or 503: beyond the rate of a prefix or a key.
  kOutage,          // Part of the store answers nothing, for a while.
  kSpuriousWakeup,  // A wait ends for no reason.
  kCrash,           // Of a process.
  kPause,           // Of a process.
  kClockJump,       // Of a process's wall clock.
};
inline constexpr size_t kFaultKinds = 15;
std::string_view FaultKindName(FaultKind kind);

// The share of requests that meet each kind, for those kinds that are met by request.
using FaultRates = std::array<double, kFaultKinds>;
using FaultCounts = std::array<uint64_t, kFaultKinds>;

// What becomes of one request. Times are from its sending.
struct Fate {
  std::optional<Duration> applied_after{};        // Reaches the server; none: never.
  std::optional<Duration> applied_again_after{};  // And a second time.
  Duration answered_after{};                      // The client goes on.
  // What the client is told, where it is not what the server said.
  std::optional<ErrorCode> failure{};
  bool answers_second = false;            // The answer is that of the second time.
  std::optional<FaultKind> body_fault{};  // kShortBody, kEmptyBody, kFlippedBody.
};

struct Outage {
  SimTime from;
  SimTime until;
  std::string part;  // Of the keys that it concerns; empty: all.
};

class Network {
 public:
  // `limits_share`: of the profile's limits of a prefix; others use the rest.
  Network(const Scheduler& scheduler, const StoreProfile& profile, double limits_share, uint64_t seed);

  void SetRates(const FaultRates& rates) { rates_ = rates; }
  void AddOutage(Outage outage) { outages_.push_back(std::move(outage)); }
  // From now on nothing fails, but what is under way lands yet.
  void Calm();
  bool calm() const { return calm_; }

  Fate FateOf(StoreCall call, std::string_view key, uint64_t size_bytes);
  bool DrawsSpuriousWakeup() { return Draws(FaultKind::kSpuriousWakeup); }
  void Count(FaultKind kind) { counts_[static_cast<size_t>(kind)] += 1; }
  const FaultCounts& counts() const { return counts_; }
  const StoreProfile& profile() const { return profile_; }
  Random& random() { return random_; }

 private:
  bool Draws(FaultKind kind);
  bool IsThrottled(StoreCall call, std::string_view key);
  bool IsDown(std::string_view key) const;
  Fate Refused(FaultKind kind, Duration answered_after);
  Fate FateOfWrite(StoreCall call, Duration latency);
  Fate FateOfRead(StoreCall call, Duration latency);
  Duration DrawLatency(StoreCall call, uint64_t size_bytes);
  Duration DrawLong();

  // Fills at the rate of its limit, up to a second's worth.
  struct Bucket {
    double level = 0;
    SimTime at{};
  };
  bool Overflows(const std::string& name, double per_s);

  const Scheduler& scheduler_;
  const StoreProfile& profile_;
  const double limits_share_;
  SeededRandom random_;
  FaultRates rates_{};
  std::vector<Outage> outages_;
  std::map<std::string, Bucket> buckets_;
  FaultCounts counts_{};
  bool calm_ = false;
};

}  // namespace batchweave::sim
