// Trim: steps that no group holds leave the stream, from its beginning. Their objects are the reclaimer's (reclaim.h).
//
// No clock takes part: what is trimmed is a function of the version that the trim is built on.
#pragma once

#include "batchweave/log/manifest_log.h"
#include "batchweave/log/progress.h"

namespace batchweave {

// Raises first_step of `next` to the watermark: never down, never past next_step. Entries and archived objects wholly
// below it go, and quarantines likewise. Cursors that only those entries held move into their rows (I5 of
// docs/protocol.md); for them the archived objects that go are read, where a row asks for it.
// False where there was nothing to trim.
// Errors: those of ForEachEntry, with kUnavailable for kNotFound (what `next` was built on is not the newest any more).
Result<bool> ApplyTrim(ManifestLog& log, Manifest& next);

// Commits a trim; returns the version, or the newest one where there was nothing to trim.
// Errors: those of ApplyTrim and of CommitChange.
Result<LoggedManifest> Trim(ManifestLog& log, TimePoint deadline);

}  // namespace batchweave
