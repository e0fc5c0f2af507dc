#include "sim/network.h"

#include <algorithm>
#include <cmath>

namespace batchweave::sim {
namespace {

constexpr std::array<std::string_view, kFaultKinds> kNames{
    "fail_before", "lost_request",    "apply_then_fail", "apply_later",  "duplicate",
    "conflict",    "short_body",      "empty_body",      "flipped_body", "throttled",
    "outage",      "spurious_wakeup", "crash",           "pause",        "clock_jump"};

// When a client gives up waiting for an answer: what HTTP clients of object stores use by default.
constexpr Duration kClientTimeout = std::chrono::seconds(30);
// A request that is still on its way longer than this is of no protocol's concern: no server keeps one so long.
constexpr double kLongestDelaySeconds = 3 * 3600;

bool IsWrite(StoreCall call) { return (call & kCallWrite) != 0; }

}  // namespace

std::string_view FaultKindName(FaultKind kind) { return kNames[static_cast<size_t>(kind)]; }

Network::Network(const Scheduler& scheduler, const StoreProfile& profile, double limits_share, uint64_t seed)
    : scheduler_(scheduler), profile_(profile), limits_share_(limits_share), random_(seed) {}

void Network::Calm() {
  calm_ = true;
  rates_ = {};
  outages_.clear();
}

Fate Network::FateOf(StoreCall call, std::string_view key, uint64_t size_bytes) {
  const Duration latency = DrawLatency(call, size_bytes);
  if (IsDown(key)) {
    if (NextUnit(random_) < 0.5) return Refused(FaultKind::kOutage, latency);
    // It hangs, and says nothing.
    Fate fate = Refused(FaultKind::kOutage, kClientTimeout);
    if (IsWrite(call)) fate.failure = ErrorCode::kUnknownOutcome;
    return fate;
  }
  if (IsThrottled(call, key)) {
    Fate fate = Refused(FaultKind::kThrottled, latency);
    // A 503 may as well be a server that was at work: of a put, most clients cannot tell.
    if ((call & kCallPut) != 0 && NextUnit(random_) < 0.5) fate.failure = ErrorCode::kUnknownOutcome;
    return fate;
  }
  if (Draws(FaultKind::kFailBefore)) return Refused(FaultKind::kFailBefore, latency);
  return IsWrite(call) ? FateOfWrite(call, latency) : FateOfRead(call, latency);
}

Fate Network::FateOfWrite(StoreCall call, Duration latency) {
  // A delete knows no unknown outcome: it is safe to repeat, so the client calls it unavailable.
  const ErrorCode unknown = call == kCallDelete ? ErrorCode::kUnavailable : ErrorCode::kUnknownOutcome;
  const auto before_answer = std::chrono::duration_cast<Duration>(latency * NextUnit(random_));
  if (call == kCallCreate && Draws(FaultKind::kConflict)) {
    return {.answered_after = latency, .failure = ErrorCode::kUnknownOutcome};
  }
  if (Draws(FaultKind::kLostRequest)) return {.answered_after = kClientTimeout, .failure = unknown};
  if (Draws(FaultKind::kApplyThenFail)) {
    const bool reset = NextUnit(random_) < 0.5;
    return {.applied_after = before_answer, .answered_after = reset ? latency : kClientTimeout, .failure = unknown};
  }
  if (Draws(FaultKind::kApplyLater)) {
    const Duration answered_after = NextUnit(random_) < 0.5 ? latency : kClientTimeout;
    return {.applied_after = answered_after + DrawLong(), .answered_after = answered_after, .failure = unknown};
  }
  Fate fate{.applied_after = before_answer, .answered_after = latency};
  if (Draws(FaultKind::kDuplicate)) {
    // The HTTP layer sent it again, and the answer is that of the second; or a proxy did, much later.
    fate.answers_second = NextUnit(random_) < 0.5;
    fate.applied_again_after = fate.answers_second ? latency : latency + DrawLong();
  }
  return fate;
}

Fate Network::FateOfRead(StoreCall call, Duration latency) {
  if (Draws(FaultKind::kLostRequest)) return {.answered_after = kClientTimeout, .failure = ErrorCode::kUnavailable};
  Fate fate{.applied_after = std::chrono::duration_cast<Duration>(latency * NextUnit(random_)),
            .answered_after = latency};
  if (call != kCallGet && call != kCallRead) return fate;
  for (const FaultKind kind : {FaultKind::kShortBody, FaultKind::kEmptyBody, FaultKind::kFlippedBody}) {
    if (!fate.body_fault && Draws(kind)) fate.body_fault = kind;
  }
  return fate;
}

Fate Network::Refused(FaultKind kind, Duration answered_after) {
  if (kind != FaultKind::kFailBefore) Count(kind);
  return {.answered_after = answered_after, .failure = ErrorCode::kUnavailable};
}

bool Network::Draws(FaultKind kind) {
  const double rate = rates_[static_cast<size_t>(kind)];
  if (rate == 0 || NextUnit(random_) >= rate) return false;
  Count(kind);
  return true;
}

bool Network::IsDown(std::string_view key) const {
  const SimTime now = scheduler_.now();
  return std::ranges::any_of(outages_, [&](const Outage& outage) {
    return outage.from <= now && now < outage.until && key.find(outage.part) != std::string_view::npos;
  });
}

bool Network::IsThrottled(StoreCall call, std::string_view key) {
  const std::string prefix(key.substr(0, key.rfind('/')));
  if (!IsWrite(call)) return Overflows("r " + prefix, profile_.reads_per_s_of_prefix * limits_share_);
  if (profile_.writes_per_s_of_key > 0 && Overflows("k " + std::string(key), profile_.writes_per_s_of_key)) return true;
  return Overflows("w " + prefix, profile_.writes_per_s_of_prefix * limits_share_);
}

bool Network::Overflows(const std::string& name, double per_s) {
  if (per_s >= 1e6) return false;
  Bucket& bucket = buckets_[name];
  const double passed = std::chrono::duration<double>(scheduler_.now() - bucket.at).count();
  bucket.level = std::max(0.0, bucket.level - passed * per_s);
  bucket.at = scheduler_.now();
  if (bucket.level + 1 > std::max(1.0, per_s)) return true;
  bucket.level += 1;
  return false;
}

Duration Network::DrawLatency(StoreCall call, uint64_t size_bytes) {
  const Latency& latency = (call & kCallPut) != 0 ? profile_.put
                           : call == kCallList    ? profile_.list
                           : call == kCallDelete  ? profile_.remove
                                                  : profile_.get;
  return Draw(random_, latency, profile_.bytes_per_s, size_bytes);
}

Duration Network::DrawLong() {
  // Any order of magnitude is as likely as any other, from a millisecond to hours.
  const double seconds = std::exp(std::log(1e-3) + NextUnit(random_) * std::log(kLongestDelaySeconds / 1e-3));
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace batchweave::sim
