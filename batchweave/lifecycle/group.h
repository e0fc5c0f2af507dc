// A group: the hold that one training job has on the stream. Created at a step and dropped explicitly; each (re)start of
// the job opens a session, which fences the one before. docs/protocol.md, "Groups, checkpoints, trim, quarantine".
//
// Every function here is one commit: its preconditions hold in the version that it was built on (fault M9). All are safe
// for concurrent use. Errors of all: what each says; kNotFound (also: the stream was deleted), kUnavailable (nothing
// happened: retry), kUnknownOutcome (read the newest version to see), kIncompatible, kDenied, kCorrupt.
#pragma once

#include <string>
#include <string_view>

#include "batchweave/base/clock.h"
#include "batchweave/base/result.h"
#include "batchweave/format/manifest.h"
#include "batchweave/log/manifest_log.h"

namespace batchweave {

// Under which session a caller acts. A job has the number from the rank that opened the session; an operator's command
// takes the current one from the manifest that it showed. Where it is not the group's any more: kFenced.
struct GroupSession {
  std::string group{};
  Session session{};  // 0: no session was opened yet.
};

// Creates the group `name`, which from then on holds every step from `start`. Returns the version it was made in.
// Errors: kAlreadyExists, kTrimmed (`start` is below first_step), kInvalidArgument (the name; `start` is beyond
// next_step), kDenied (kGroupsMax groups: drop one).
Result<LoggedManifest> CreateGroup(ManifestLog& log, std::string_view name, Step start, TimePoint deadline);

// Lets go of everything that the group holds, and of the group. What nobody else holds goes with the next trim. Its
// ranks learn of it as of a trim.
// Errors: kNotFound (no such group), kFenced (another session was opened meanwhile).
Result<LoggedManifest> DropGroup(ManifestLog& log, const GroupSession& holder, TimePoint deadline);

// Opens a session of a job that (re)starts at `start`, and thereby fences the one before. `start` is held until the
// session's first checkpoint; checkpoints of earlier sessions stay. Returns the session's number, for every rank.
// Errors: kNotFound (no such group), kTrimmed (`start` is below first_step: begin at a checkpoint that is still held),
// kInvalidArgument (`start` is beyond next_step).
Result<Session> OpenGroupSession(ManifestLog& log, std::string_view name, Step start, TimePoint deadline);

// The group of that name, or null.
const GroupRow* FindGroup(const Manifest& manifest, std::string_view name);

// The group that `holder` acts for. Errors: kNotFound, kFenced.
Result<GroupRow*> RequireGroup(Manifest& manifest, const GroupSession& holder);

// Whether steps from `position` on can be held: first_step <= position <= next_step. `what` begins the message.
// Errors: kTrimmed (below), kInvalidArgument (beyond).
Result<void> CheckPosition(const Manifest& manifest, std::string_view what, Step position);

}  // namespace batchweave
