#include "batchweave/lifecycle/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>

#include "batchweave/base/mutation.h"
#include "batchweave/format/keys.h"
#include "batchweave/lifecycle/trim.h"
#include "batchweave/log/change.h"

namespace batchweave {
namespace {

// Releases the oldest of the group's checkpoints that are not pinned, but for `keep_last`. By order of registration, not
// by step: after a rollback the newest one has a lower step (fault M12).
void KeepLast(Manifest& next, std::string_view group, size_t keep_last) {
  const auto counts = [&](const Checkpoint& checkpoint) {
    return checkpoint.group == group && (!checkpoint.pinned || BW_MUTATION(kKeepLastTakesPinned));
  };
  const auto counted = static_cast<size_t>(std::ranges::count_if(next.checkpoints, counts));
  size_t surplus = counted - std::min(counted, keep_last);
  if (BW_MUTATION(kKeepLastByStep)) std::ranges::sort(next.checkpoints, {}, &Checkpoint::position);
  std::erase_if(next.checkpoints, [&](const Checkpoint& checkpoint) {
    if (surplus == 0 || !counts(checkpoint)) return false;
    --surplus;
    return true;
  });
  if (BW_MUTATION(kKeepLastByStep)) std::ranges::sort(next.checkpoints, {}, &Checkpoint::order);
}

// Rises with each registration: the version does, and a version registers one.
uint64_t NextOrder(const Manifest& next) {
  const uint64_t newest = next.checkpoints.empty() ? 0 : next.checkpoints.back().order;
  return std::max(next.version.value, newest + 1);
}

}  // namespace

Result<void> ApplyCheckpoint(Manifest& next, const CheckpointRequest& request) {
  const std::string& group_name = request.holder.group;
  BW_TRY(CheckName("checkpoint", request.name));
  if (request.keep_last == 0) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("keep_last must be at least 1: group={} checkpoint={}", group_name, request.name)};
  }
  GroupRow& group = *BW_TRY(RequireGroup(next, request.holder));
  BW_TRY(CheckPosition(next, "a checkpoint", request.position));
  std::erase_if(next.checkpoints, [&](const Checkpoint& checkpoint) {
    return checkpoint.group == group_name && checkpoint.name == request.name;
  });
  next.checkpoints.push_back({.group = group_name,
                              .name = request.name,
                              .position = request.position,
                              .pinned = request.pin,
                              .order = NextOrder(next)});
  KeepLast(next, group_name, request.keep_last);
  if (next.checkpoints.size() > kCheckpointsMax) {
    return Error{ErrorCode::kDenied, fmt::format("the stream has as many checkpoints as it may: release some first: "
                                                 "group={} checkpoint={} checkpoints={}",
                                                 group_name, request.name, next.checkpoints.size() - 1)};
  }
  group.start_held = false;
  group.smallest_held = SmallestHeld(next, group);
  return {};
}

Result<LoggedManifest> RegisterCheckpoint(ManifestLog& log, const CheckpointRequest& request, TimePoint deadline) {
  return CommitChange(log, deadline, [&](Manifest& next) -> Result<bool> {
    BW_TRY(ApplyCheckpoint(next, request));
    if (request.trim) BW_TRY(ApplyTrim(log, next));
    return true;
  });
}

Result<LoggedManifest> ReleaseCheckpoint(ManifestLog& log, const GroupSession& holder, std::string_view name,
                                         TimePoint deadline) {
  return CommitChange(log, deadline, [&](Manifest& next) -> Result<bool> {
    GroupRow& group = *BW_TRY(RequireGroup(next, holder));
    const auto is_in_group = [&](const Checkpoint& checkpoint) { return checkpoint.group == holder.group; };
    const auto found = std::ranges::find_if(next.checkpoints, [&](const Checkpoint& checkpoint) {
      return is_in_group(checkpoint) && checkpoint.name == name;
    });
    if (found == next.checkpoints.end()) {
      return Error{ErrorCode::kNotFound, fmt::format("no such checkpoint: group={} checkpoint={}", holder.group, name)};
    }
    if (std::ranges::count_if(next.checkpoints, is_in_group) == 1) {
      return Error{
          ErrorCode::kInvalidArgument,
          fmt::format("a group's last checkpoint is not released: drop the group instead: group={} checkpoint={}",
                      holder.group, name)};
    }
    next.checkpoints.erase(found);
    group.smallest_held = SmallestHeld(next, group);
    return true;
  });
}

}  // namespace batchweave
