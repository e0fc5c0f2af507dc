#include "batchweave/consumer/prefetch_window.h"

#include <algorithm>
#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/base/mutation.h"

namespace batchweave {
namespace {

// From 25 ms, twice as long each time, to 3.2 s: together a store may be away for about six seconds before a trainer
// hears of it, and it may then call again.
constexpr Duration kFirstDelay = std::chrono::milliseconds(25);
constexpr uint32_t kDoublingsMax = 7;
constexpr uint32_t kFailuresMax = 9;

// Bytes that arrive altered twice in a row are altered at rest.
constexpr uint32_t kCorruptionsMax = 3;

uint64_t BytesOf(const RankBatch& batch) {
  uint64_t bytes = 0;
  for (const Slice& slice : batch.slices()) bytes += slice.bytes.size();
  return bytes;
}

}  // namespace

Duration RetryDelay(uint32_t failures, double unit) {
  BW_CHECK(failures >= 1);
  const Duration longest = kFirstDelay * (1 << std::min(failures - 1, kDoublingsMax));
  return Duration(static_cast<Duration::rep>(static_cast<double>(longest.count()) * (0.5 + 0.5 * unit)));
}

bool WorthRetrying(ErrorCode code, uint32_t failures) {
  if (code == ErrorCode::kUnavailable) return failures < kFailuresMax;
  return code == ErrorCode::kCorrupt && failures < kCorruptionsMax;
}

void PrefetchWindow::Admit(KnownStep known, uint64_t expected_bytes, TimePoint now) {
  BW_CHECK(HasRoom() && known.step == position_ + slots_.size());
  Slot& slot = slots_.emplace_back();
  slot.known = std::move(known);
  slot.bytes = expected_bytes;
  slot.known_since = now;
}

void PrefetchWindow::AdmitSkipped(KnownStep known) {
  Admit(std::move(known), 0, {});
  slots_.back().state = State::kSkipped;
}

bool PrefetchWindow::PassSkipped() {
  const Step before = position_;
  const auto is_passed = [](const Slot& slot) {
    return slot.state == State::kSkipped || (BW_MUTATION(kFailedStepIsPassed) && slot.state == State::kFailed);
  };
  while (!slots_.empty() && is_passed(slots_.front())) {
    slots_.pop_front();
    position_ = position_ + 1;
  }
  return position_ != before;
}

std::optional<KnownStep> PrefetchWindow::TakeFetch(TimePoint now) {
  uint64_t reserved = ReservedBytes();
  for (Slot& slot : slots_) {
    if (slot.state != State::kWaiting) continue;
    const bool is_head = slot.known.step == position_;
    // Nothing overtakes a step for which there is no room: it would take the room that the step waits for.
    if (!is_head && reserved + slot.bytes > limits_.bytes_max) return std::nullopt;
    if (slot.not_before > now) {
      reserved += slot.bytes;
      continue;
    }
    slot.state = State::kFetching;
    return slot.known;
  }
  return std::nullopt;
}

TimePoint PrefetchWindow::NextRetry(TimePoint now) const {
  TimePoint next = kForever;
  for (const Slot& slot : slots_) {
    if (slot.state == State::kWaiting && slot.not_before > now) next = std::min(next, slot.not_before);
  }
  return next;
}

void PrefetchWindow::Complete(Step step, Result<RankBatch> result, TimePoint now, double unit) {
  Slot& slot = SlotOf(step);
  BW_CHECK(slot.state == State::kFetching);
  if (result.ok()) {
    slot.state = State::kReady;
    slot.bytes = BytesOf(*result);
    slot.batch = std::move(result).value();
    return;
  }
  slot.failures += 1;
  const bool again = WorthRetrying(result.error().code, slot.failures);
  slot.state = again ? State::kWaiting : State::kFailed;
  slot.not_before = After(now, RetryDelay(slot.failures, unit));
  slot.last_error = std::move(result).error();
  if (again) retries_ += 1;
}

PrefetchWindow::Slot PrefetchWindow::TakeHead() {
  BW_CHECK(!slots_.empty() && slots_.front().state == State::kReady);
  Slot taken = std::move(slots_.front());
  slots_.pop_front();
  position_ = position_ + 1;
  return taken;
}

void PrefetchWindow::RetryHead() {
  if (slots_.empty() || slots_.front().state != State::kFailed) return;
  Slot& head = slots_.front();
  head.state = State::kWaiting;
  head.not_before = {};
  head.failures = 0;
  head.last_error.reset();
}

uint64_t PrefetchWindow::ready_bytes() const {
  uint64_t bytes = 0;
  for (const Slot& slot : slots_) bytes += slot.state == State::kReady ? slot.bytes : 0;
  return bytes;
}

uint64_t PrefetchWindow::ReservedBytes() const {
  uint64_t bytes = 0;
  for (const Slot& slot : slots_) {
    if (slot.state == State::kFetching || slot.state == State::kReady) bytes += slot.bytes;
  }
  return bytes;
}

}  // namespace batchweave
