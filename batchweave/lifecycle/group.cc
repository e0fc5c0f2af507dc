#include "batchweave/lifecycle/group.h"

#include <fmt/format.h>

#include <algorithm>

#include "batchweave/base/mutation.h"
#include "batchweave/format/keys.h"
#include "batchweave/log/change.h"

namespace batchweave {
namespace {

Error NoSuchGroup(std::string_view name) {
  return {ErrorCode::kNotFound, fmt::format("no such group: create it first: group={}", name)};
}

GroupRow* FindGroup(Manifest& manifest, std::string_view name) {
  return const_cast<GroupRow*>(FindGroup(std::as_const(manifest), name));
}

}  // namespace

const GroupRow* FindGroup(const Manifest& manifest, std::string_view name) {
  const auto group = std::ranges::lower_bound(manifest.groups, name, {}, &GroupRow::name);
  return group != manifest.groups.end() && group->name == name ? &*group : nullptr;
}

Result<GroupRow*> RequireGroup(Manifest& manifest, const GroupSession& holder) {
  GroupRow* group = FindGroup(manifest, holder.group);
  if (group == nullptr) return NoSuchGroup(holder.group);
  if (group->session == holder.session || BW_MUTATION(kSessionNotChecked)) return group;
  return Error{ErrorCode::kFenced,
               fmt::format("a newer session of the group has taken over: group={} session={} current={}", holder.group,
                           holder.session.value, group->session.value)};
}

Result<void> CheckPosition(const Manifest& manifest, std::string_view what, Step position) {
  if (position < manifest.first_step) {
    return Error{ErrorCode::kTrimmed, fmt::format("{} lies before the first step that is still there: step={} first={}",
                                                  what, position.value, manifest.first_step.value)};
  }
  if (position > manifest.next_step) {
    return Error{ErrorCode::kInvalidArgument, fmt::format("{} lies beyond the end of the stream: step={} next={}", what,
                                                          position.value, manifest.next_step.value)};
  }
  return {};
}

Result<LoggedManifest> CreateGroup(ManifestLog& log, std::string_view name, Step start, TimePoint deadline) {
  BW_TRY(CheckName("group", name));
  return CommitChange(log, deadline, [&](Manifest& next) -> Result<bool> {
    if (FindGroup(next, name) != nullptr) {
      return Error{ErrorCode::kAlreadyExists, fmt::format("the group exists: group={}", name)};
    }
    if (next.groups.size() >= kGroupsMax) {
      return Error{ErrorCode::kDenied, fmt::format("the stream has as many groups as it may: drop one first: group={} "
                                                   "groups={}",
                                                   name, next.groups.size())};
    }
    BW_TRY(CheckPosition(next, "the start of a group", start));
    const auto at = std::ranges::lower_bound(next.groups, name, {}, &GroupRow::name);
    next.groups.insert(at, GroupRow{.name = std::string(name), .start = start, .smallest_held = start});
    return true;
  });
}

Result<LoggedManifest> DropGroup(ManifestLog& log, const GroupSession& holder, TimePoint deadline) {
  return CommitChange(log, deadline, [&](Manifest& next) -> Result<bool> {
    const GroupRow* group = BW_TRY(RequireGroup(next, holder));
    next.groups.erase(next.groups.begin() + (group - next.groups.data()));
    std::erase_if(next.checkpoints, [&](const Checkpoint& checkpoint) { return checkpoint.group == holder.group; });
    return true;
  });
}

Result<Session> OpenGroupSession(ManifestLog& log, std::string_view name, Step start, TimePoint deadline) {
  const auto open = [&](Manifest& next) -> Result<bool> {
    GroupRow* group = FindGroup(next, name);
    if (group == nullptr) return NoSuchGroup(name);
    BW_TRY(CheckPosition(next, "the start of a session", start));
    if (BW_MUTATION(kSessionDropsCheckpoints)) {
      std::erase_if(next.checkpoints, [&](const Checkpoint& checkpoint) { return checkpoint.group == name; });
    }
    group->session = {next.version.value};
    group->start = start;
    group->start_held = true;
    group->smallest_held = SmallestHeld(next, *group);
    return true;
  };
  const LoggedManifest committed = BW_TRY(CommitChange(log, deadline, open));
  return Session{committed.manifest.version.value};
}

}  // namespace batchweave
