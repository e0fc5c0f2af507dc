#include "batchweave/lifecycle/quarantine.h"

#include <fmt/format.h>

#include <algorithm>

#include "batchweave/base/mutation.h"
#include "batchweave/log/change.h"

namespace batchweave {
namespace {

Result<void> CheckRange(const Manifest& manifest, StepRange range) {
  const std::string steps = fmt::format("first={} end={}", range.first.value, range.end.value);
  if (range.first >= range.end) return Error{ErrorCode::kInvalidArgument, "a quarantine of no steps: " + steps};
  if (range.end > manifest.next_step) {
    return Error{ErrorCode::kInvalidArgument, fmt::format("a quarantine of steps that are not there yet: {} next={}",
                                                          steps, manifest.next_step.value)};
  }
  if (range.end <= manifest.first_step) {
    return Error{ErrorCode::kTrimmed, fmt::format("the steps to be quarantined are gone: {} first_step={}", steps,
                                                  manifest.first_step.value)};
  }
  return {};
}

}  // namespace

Result<LoggedManifest> SetQuarantine(ManifestLog& log, StepRange range, std::string_view reason, TimePoint deadline) {
  if (reason.empty() || reason.size() > kReasonBytesMax) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("a quarantine needs a reason of 1 to {} bytes: bytes={}", kReasonBytesMax, reason.size())};
  }
  return CommitChange(log, deadline, [&](Manifest& next) -> Result<bool> {
    BW_TRY(CheckRange(next, range));
    if (next.quarantines.size() >= kQuarantinesMax) {
      return Error{ErrorCode::kDenied, fmt::format("the stream has as many quarantines as it may: quarantines={}",
                                                   next.quarantines.size())};
    }
    next.quarantines.push_back(
        {.first = range.first, .end = range.end, .reason = std::string(reason), .set_at = next.version});
    return true;
  });
}

Result<LoggedManifest> LiftQuarantine(ManifestLog& log, StepRange range, TimePoint deadline) {
  return CommitChange(log, deadline, [&](Manifest& next) -> Result<bool> {
    bool lifted = false;
    for (Quarantine& quarantine : next.quarantines) {
      const bool in_force = quarantine.lifted_at == Version{};
      if (!in_force || quarantine.first != range.first || quarantine.end != range.end) continue;
      quarantine.lifted_at = next.version;
      lifted = true;
    }
    if (lifted) return true;
    return Error{ErrorCode::kNotFound, fmt::format("no quarantine is in force for just these steps: first={} end={}",
                                                   range.first.value, range.end.value)};
  });
}

std::vector<StepRange> SkippedBy(const Manifest& manifest, Session session) {
  if (BW_MUTATION(kQuarantineByNow)) session = {manifest.version.value + 1};
  std::vector<StepRange> ranges;
  for (const Quarantine& quarantine : manifest.quarantines) {
    const bool set_before = quarantine.set_at.value < session.value;
    const bool lifted_before = quarantine.lifted_at != Version{} && quarantine.lifted_at.value < session.value;
    if (set_before && !lifted_before) ranges.push_back({.first = quarantine.first, .end = quarantine.end});
  }
  std::ranges::sort(ranges, {}, &StepRange::first);
  std::vector<StepRange> merged;
  for (const StepRange& range : ranges) {
    if (merged.empty() || merged.back().end < range.first) {
      merged.push_back(range);
    } else {
      merged.back().end = std::max(merged.back().end, range.end);
    }
  }
  return merged;
}

}  // namespace batchweave
