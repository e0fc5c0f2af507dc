#include "batchweave/format/manifest_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "batchweave/base/mutation.h"
#include "batchweave/format/history_codec.h"
#include "batchweave/format/keys.h"

namespace batchweave {
namespace {

Error Corrupt(const Manifest& manifest, std::string_view reason) {
  return {ErrorCode::kCorrupt, fmt::format("{}: version={}", reason, manifest.version.value)};
}

bool IsWithin(const Manifest& manifest, Step position) {
  if (BW_MUTATION(kTrimToTheFastestGroup) && position < manifest.first_step) return true;  // Or this would stop it.
  return manifest.first_step <= position && position <= manifest.next_step;
}

Result<void> CheckGroups(const Manifest& manifest) {
  if (manifest.groups.size() > kGroupsMax) return Corrupt(manifest, "too many groups");
  const GroupRow* before = nullptr;
  for (const GroupRow& group : manifest.groups) {
    if (!CheckName("group", group.name).ok()) return Corrupt(manifest, "group has no valid name");
    if (before != nullptr && before->name >= group.name) return Corrupt(manifest, "groups are out of order");
    if (group.session.value > manifest.version.value) return Corrupt(manifest, "session is newer than its version");
    // Holds I8 of docs/protocol.md.
    if (!IsWithin(manifest, group.smallest_held)) return Corrupt(manifest, "group holds steps that are not there");
    before = &group;
  }
  return {};
}

// The groups' smallest held steps, counted anew from their checkpoints.
Result<std::vector<Step>> CountHeld(const Manifest& manifest) {
  std::vector<Step> held;
  for (const GroupRow& group : manifest.groups) held.push_back(group.start_held ? group.start : kNothingHeld);
  for (const Checkpoint& checkpoint : manifest.checkpoints) {
    const auto group = std::ranges::lower_bound(manifest.groups, checkpoint.group, {}, &GroupRow::name);
    if (group == manifest.groups.end() || group->name != checkpoint.group) {
      return Corrupt(manifest, "checkpoint of a group that is not there");
    }
    Step& smallest = held[static_cast<size_t>(group - manifest.groups.begin())];
    smallest = std::min(smallest, checkpoint.position);
  }
  return held;
}

bool HasOneNameTwice(const std::vector<Checkpoint>& checkpoints) {
  using Name = std::pair<std::string_view, std::string_view>;
  std::vector<Name> names;
  for (const Checkpoint& checkpoint : checkpoints) names.emplace_back(checkpoint.group, checkpoint.name);
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) != names.end();
}

Result<void> CheckCheckpoints(const Manifest& manifest) {
  if (manifest.checkpoints.size() > kCheckpointsMax) return Corrupt(manifest, "too many checkpoints");
  const Checkpoint* before = nullptr;
  for (const Checkpoint& checkpoint : manifest.checkpoints) {
    if (!CheckName("checkpoint", checkpoint.name).ok()) return Corrupt(manifest, "checkpoint has no valid name");
    if (!IsWithin(manifest, checkpoint.position)) return Corrupt(manifest, "checkpoint of a step that is not there");
    if (before != nullptr && before->order >= checkpoint.order) {
      return Corrupt(manifest, "checkpoints are out of order");
    }
    before = &checkpoint;
  }
  if (HasOneNameTwice(manifest.checkpoints)) return Corrupt(manifest, "checkpoint is there twice");
  const std::vector<Step> held = BW_TRY(CountHeld(manifest));
  if (!std::ranges::equal(manifest.groups, held, {}, &GroupRow::smallest_held)) {
    return Corrupt(manifest, "a group's hold is miscounted");
  }
  return {};
}

Result<void> CheckQuarantines(const Manifest& manifest) {
  if (manifest.quarantines.size() > kQuarantinesMax) return Corrupt(manifest, "too many quarantines");
  const Quarantine* before = nullptr;
  for (const Quarantine& quarantine : manifest.quarantines) {
    const bool lifted = quarantine.lifted_at != Version{};
    if (quarantine.first >= quarantine.end) return Corrupt(manifest, "quarantine of no steps");
    if (quarantine.reason.size() > kReasonBytesMax) return Corrupt(manifest, "reason of a quarantine is too long");
    if (quarantine.set_at == Version{} || quarantine.set_at > manifest.version ||
        quarantine.lifted_at > manifest.version || (lifted && quarantine.lifted_at <= quarantine.set_at)) {
      return Corrupt(manifest, "quarantine is set or lifted at an impossible version");
    }
    if (before != nullptr && before->set_at > quarantine.set_at) {
      return Corrupt(manifest, "quarantines are out of order");
    }
    before = &quarantine;
  }
  return {};
}

Result<void> CheckRowsOf(const Manifest& manifest) {
  BW_TRY(CheckRows(manifest.rows));
  for (const ProducerRow& row : manifest.rows) {
    if (row.incarnation.value > manifest.version.value) return Corrupt(manifest, "row is newer than its version");
    if (!row.step) continue;
    if (*row.step >= manifest.next_step) return Corrupt(manifest, "row of a step that is not there");
    if (*row.step < manifest.tail_first()) continue;
    const Entry& entry = manifest.tail[row.step->value - manifest.tail_first().value];
    if (entry.producer != row.producer || entry.seq != row.seq || entry.incarnation > row.incarnation) {
      return Corrupt(manifest, "row names another producer's step");
    }
  }
  if (!manifest.archived_rows) return {};
  BW_TRY(CheckArchiveRef(*manifest.archived_rows));
  const bool fits =
      manifest.archived_rows->kind == ArchiveRef::Kind::kRows && manifest.archived_rows->version <= manifest.version;
  return fits ? Result<void>() : Corrupt(manifest, "archived rows are of another kind or newer than their version");
}

}  // namespace

Result<void> CheckHead(const Manifest& manifest) {
  if (manifest.version == Version{}) return Corrupt(manifest, "manifest has no version");
  if (manifest.first_step > manifest.next_step) return Corrupt(manifest, "first step is beyond the next");
  if (manifest.tail.size() > manifest.next_step.value) return Corrupt(manifest, "more entries than steps");
  for (const Entry& entry : manifest.tail) {
    if (entry.incarnation.value > manifest.version.value) return Corrupt(manifest, "entry is newer than its version");
  }
  return CheckGroups(manifest);
}

// Holds I3 of docs/protocol.md: from first_step to next_step every step has its one place.
Result<void> CheckSteps(const Manifest& manifest, Step tail_first) {
  BW_TRY(CheckContiguous(manifest.archives));
  for (const ArchiveRef& ref : manifest.archives) {
    if (ref.version > manifest.version) return Corrupt(manifest, "archived object is newer than its version");
  }
  const bool archived = !manifest.archives.empty();
  if (archived && manifest.archives.back().end != tail_first) {
    return Corrupt(manifest, "archived steps do not end where the tail begins");
  }
  const Step first = archived ? manifest.archives.front().first : tail_first;
  if (BW_MUTATION(kTrimDropsOneMore)) return {};  // Or this would stop it.
  return first <= manifest.first_step ? Result<void>() : Corrupt(manifest, "steps are missing");
}

Result<void> CheckManifest(const Manifest& manifest) {
  BW_TRY(CheckHead(manifest));
  BW_TRY(CheckSteps(manifest, manifest.tail_first()));
  BW_TRY(CheckCheckpoints(manifest));
  BW_TRY(CheckQuarantines(manifest));
  return CheckRowsOf(manifest);
}

}  // namespace batchweave
