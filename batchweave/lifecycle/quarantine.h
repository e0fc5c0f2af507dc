// Quarantine: a range of steps that training should not see, with the reason. It takes effect for the sessions opened
// after it, so that all ranks of one session skip the same (I11 of docs/protocol.md, fault M13).
//
// Setting and lifting are one commit each, as in group.h; errors beyond those named are the ones listed there.
#pragma once

#include <string>
#include <vector>

#include "batchweave/log/history.h"
#include "batchweave/log/manifest_log.h"

namespace batchweave {

// Quarantines `range` for sessions opened from now on. Returns the version.
// Errors: kTrimmed (all of it is gone), kInvalidArgument (no steps, steps beyond the end, a reason that is empty or over
// kReasonBytesMax), kDenied (kQuarantinesMax: those whose steps are trimmed go by themselves).
Result<LoggedManifest> SetQuarantine(ManifestLog& log, StepRange range, std::string_view reason, TimePoint deadline);

// Lifts what was set for exactly `range`, for sessions opened from now on: those before go on skipping it.
// Errors: kNotFound (nothing in force for that range).
Result<LoggedManifest> LiftQuarantine(ManifestLog& log, StepRange range, TimePoint deadline);

// What `session` skips, in order and merged: the ranges set before it and not lifted before it. The same from every
// version since the session's own, but for what was trimmed. Session 0, a reader without a group, skips nothing.
std::vector<StepRange> SkippedBy(const Manifest& manifest, Session session);

}  // namespace batchweave
