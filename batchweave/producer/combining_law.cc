#include "batchweave/producer/combining_law.h"

#include <algorithm>
#include <cmath>

namespace batchweave {
namespace {

// Producers beside this one in a version up to which each tries by itself: two that try at once lose one attempt in
// three, which costs less than an announcement of each.
constexpr double kFew = 2;

// Attempts that all who wait for their turn make in the time of one. By s = W(load) the share that wins falls beyond 1,
// and below 0.6 the log stands idle; 0.8 is the middle.
constexpr double kLoad = 0.8;

// An announcement is taken by the first or second commit after it, where somebody serves: what is still there after the
// second is nobody's.
constexpr double kTurnGaps = 2.5;

// Who serves and finds nothing looks again so often before it stops, half an attempt apart: where announcements come every
// few attempts, each of them would else find nobody and wait for its turn.
constexpr int kIdleLooks = 3;

// Before the first attempt its length is reckoned from that of a put: a look, two reads, the put itself.
constexpr int kRequestsAnAttempt = 4;

double Ratio(Duration a, Duration b) { return b == Duration{0} ? 1 : std::chrono::duration<double>(a) / b; }

}  // namespace

Duration CombiningLaw::Gap() const {
  return std::clamp(gap_, attempt_time_, Scale(attempt_time_, std::max(1.0, crowd_ / kFew)));
}

void CombiningLaw::DrawTurn(TimePoint now, double unit) {
  turn_at_ = After(now, Scale(Gap(), kTurnGaps * (0.5 + unit)));
}

void CombiningLaw::Settle() {
  contended_ = false;
  drawn_ = false;
  passed_ = 0;
  turn_at_ = {};
}

void CombiningLaw::OnVersionSeen(TimePoint now, const Seen& seen) {
  lone_ = seen.others == 0;
  if (seen.versions > 0) {
    if (seen_at_ != TimePoint{}) gap_ = Average(gap_, (now - seen_at_) / static_cast<int64_t>(seen.versions));
    crowd_ = Average(crowd_, seen.crowd);
  } else if (seen_at_ == TimePoint{}) {
    crowd_ = seen.crowd;
  }
  seen_at_ = now;
}

void CombiningLaw::OnAttempt(const Attempt& attempt, double unit) {
  attempt_time_ = Average(attempt_time_, attempt.ended - attempt.began);
  if (attempt.won) {
    Settle();
    serves_ = attempt.taken > 0 || (serves_ && ++idle_looks_ <= kIdleLooks);
    if (attempt.taken > 0) idle_looks_ = 0;
    look_at_ = {};
    return;
  }
  contended_ = true;
  drawn_ = false;
  serves_ = false;
  DrawTurn(attempt.ended, unit);
}

bool CombiningLaw::GoesOn(TimePoint now, size_t announced, double unit) {
  const double reckoned = std::max(crowd_, 1.0);
  const auto found = static_cast<double>(announced);
  if (serves_ || found <= reckoned * 2) return true;
  // Many began at once, as after a restart of all, and each of them finds what this one does.
  crowd_ = found;
  const double chance = reckoned / found;
  if (unit < chance) return true;
  contended_ = true;
  drawn_ = false;
  DrawTurn(now, (unit - chance) / (1 - chance));
  return false;
}

void CombiningLaw::OnNothing(TimePoint now) {
  idle_looks_ += 1;
  serves_ = serves_ && idle_looks_ <= kIdleLooks;
  look_at_ = After(now, attempt_time_ / 2);
  Settle();
}

void CombiningLaw::OnAnnounced(TimePoint began, TimePoint ended, double unit) {
  if (attempt_time_ == Duration{0}) attempt_time_ = (ended - began) * kRequestsAnAttempt;
  announce_at_ = After(ended, Gap() / 2);
  if (turn_at_ <= began) DrawTurn(ended, unit);
}

void CombiningLaw::OnPassed(TimePoint now, double unit) {
  // Of the crowd of a gap, those whose turn comes in the time of one attempt.
  const double rivals = crowd_ * Ratio(attempt_time_, Gap());
  const double chance = std::min(1.0, kLoad * std::exp2(passed_) / std::max(rivals, kLoad));
  passed_ += 1;
  drawn_ = unit < chance;
  if (!drawn_) DrawTurn(now, (unit - chance) / (1 - chance));
}

void CombiningLaw::OnTaken() { Settle(); }

CommitLaw::Decision CombiningLaw::Decide(TimePoint now, const Pending& pending) const {
  if (serves_ && (pending.announced || pending.unannounced)) return {.action = Action::kTryForAll, .at = now};
  if (serves_) return {.action = Action::kTryForAll, .at = std::max(now, look_at_)};
  if (drawn_) return {.action = Action::kTryForAll, .at = now};
  // What is due is tried for without a lot; after a loss not before the turn, or all that are due would lose together.
  const TimePoint due_at = pending.due_at == kForever ? kForever : pending.due_at - attempt_time_;
  const TimePoint try_at = contended_ ? std::max(due_at, turn_at_) : due_at;
  if (try_at <= now) return {.action = Action::kTryForAll, .at = now};
  if (!pending.announced) {
    if (!contended_ && lone_) return {.action = Action::kTry, .at = now};
    if (!contended_ && crowd_ <= kFew) return {.action = Action::kTryForAll, .at = now};
    return {.action = Action::kAnnounce, .at = now};
  }
  const TimePoint announce_at = std::max(now, announce_at_);
  const TimePoint turn_at = std::max(now, turn_at_);
  if (pending.unannounced && announce_at < std::min(turn_at, try_at))
    return {.action = Action::kAnnounce, .at = announce_at};
  if (try_at < turn_at) return {.action = Action::kTryForAll, .at = try_at};
  return {.action = Action::kAsk, .at = turn_at};
}

}  // namespace batchweave
