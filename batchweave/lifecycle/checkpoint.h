// Checkpoints: named positions to which a job can return, and which its group therefore holds.
//
// Each function is one commit, as in group.h; errors beyond those named are the ones listed there.
#pragma once

#include <string>

#include "batchweave/lifecycle/group.h"

namespace batchweave {

inline constexpr size_t kKeepLastDefault = 2;

struct CheckpointRequest {
  GroupSession holder{};
  std::string name{};
  Step position{};                      // The next step that a job restored from it reads.
  size_t keep_last = kKeepLastDefault;  // Of the group's checkpoints that are not pinned, by order of registration.
  bool pin = false;                     // Kept until released, and not counted by keep_last.
  bool trim = true;                     // Trim in the same version what nobody holds any more.
};

// Registers a checkpoint of the job's own, once that is durable on every rank: at most one rank calls. A name that is
// there already moves to the new position and counts as the newest. Older ones beyond keep_last are released.
// Returns the version that it is in.
// Errors: kNotFound (no such group), kFenced (the session is not the group's current one: this run was replaced, stop),
// kTrimmed, kInvalidArgument (the position is beyond next_step; the name; keep_last of 0), kDenied (kCheckpointsMax in
// the stream: release some).
Result<LoggedManifest> RegisterCheckpoint(ManifestLog& log, const CheckpointRequest& request, TimePoint deadline);

// Lets go of one checkpoint, pinned or not. What nobody else holds goes with the next trim.
// Errors: kNotFound (no such group or checkpoint), kFenced, kInvalidArgument (the group's last one: drop the group).
Result<LoggedManifest> ReleaseCheckpoint(ManifestLog& log, const GroupSession& holder, std::string_view name,
                                         TimePoint deadline);

// The change that RegisterCheckpoint commits, trim excepted: pure. Errors: as there.
Result<void> ApplyCheckpoint(Manifest& next, const CheckpointRequest& request);

}  // namespace batchweave
