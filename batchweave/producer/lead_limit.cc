#include "batchweave/producer/lead_limit.h"

#include <fmt/format.h>

#include <algorithm>

#include "batchweave/log/history.h"
#include "batchweave/log/progress.h"

namespace batchweave {
namespace {

// The share of the room that passes unseen: with so many producers at once the limit is met nearly exactly, and one alone
// looks at every eighth of it.
constexpr uint64_t kUnseenShare = 8;

}  // namespace

Result<std::optional<Lead>> LeadLimit::Exceeded() {
  if (limits_.steps_max == 0 && limits_.bytes_max == 0) return std::optional<Lead>();
  {
    const std::lock_guard lock(mutex_);
    if (unseen_ > 0) {
      --unseen_;
      return std::optional<Lead>();
    }
  }
  const Manifest manifest = BW_TRY(log_.ReadNewest()).manifest;
  BW_TRY(CheckOpen(manifest));
  const std::optional<Step> reached = ReadSlowestProgress(log_, manifest);
  if (!reached) return std::optional<Lead>();
  const Lead lead{
      .reached = *reached, .end = manifest.next_step, .bytes = DataBytes(manifest, *reached, manifest.next_step)};
  const uint64_t room = Room(lead);
  if (room == 0) return std::optional(lead);
  const std::lock_guard lock(mutex_);
  unseen_ = (room - 1) / kUnseenShare;
  return std::optional<Lead>();
}

// A newer incarnation stands in the manifest itself until the next table of rows is written: long enough for who looks
// each second.
Result<void> LeadLimit::CheckOpen(const Manifest& newest) const {
  if (limits_.producer.empty()) return {};
  if (newest.sealed) return Error{ErrorCode::kSealed, "the stream is sealed: no reader is waited for any more"};
  const auto row = std::ranges::find(newest.rows, limits_.producer, &ProducerRow::producer);
  if (row == newest.rows.end() || row->incarnation <= limits_.incarnation) return {};
  return Error{ErrorCode::kFenced,
               fmt::format("a newer holder of the name has taken over: producer={} incarnation={} current={}",
                           limits_.producer, limits_.incarnation.value, row->incarnation.value)};
}

// How many more batches fit, as large as those that lie unread. Where none does, there is nothing to judge by: one.
uint64_t LeadLimit::Room(const Lead& lead) const {
  const uint64_t steps = lead.end.value - lead.reached.value;
  uint64_t room = UINT64_MAX;
  if (limits_.steps_max != 0) room = limits_.steps_max - std::min(limits_.steps_max, steps);
  if (limits_.bytes_max != 0 && steps > 0) {
    const uint64_t bytes = limits_.bytes_max - std::min(limits_.bytes_max, lead.bytes);
    room = std::min(room, bytes / std::max<uint64_t>(1, lead.bytes / steps));
  }
  return limits_.bytes_max != 0 && steps == 0 ? std::min<uint64_t>(room, 1) : room;
}

}  // namespace batchweave
