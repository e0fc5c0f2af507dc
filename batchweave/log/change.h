// How everything but batches is committed: read the newest version, change a copy, commit it, and begin again from the
// newest where another committer was first. Every precondition is thereby checked on the version it is built on.
#pragma once

#include <functional>

#include "batchweave/base/result.h"
#include "batchweave/log/manifest_log.h"

namespace batchweave {

// A copy of `base` to be changed into its successor: version + 1, the rest alike.
// Errors: kIncompatible (a writer feature that this software does not know: it must not commit).
Result<Manifest> BeginNext(const LoggedManifest& base);

// Changes `next` in place. False: there is nothing to commit, `next` is as wanted already. An error ends the change, but
// for kUnavailable: then it is tried again on the newest version.
using ManifestChange = std::function<Result<bool>(Manifest& next)>;

// Returns the version that `change` was committed in, or the newest one where it found nothing to do.
// Errors: those of `change` and of the log; kNotFound where the stream was deleted (log/deletion.h); kUnavailable (nothing
// was committed; also after kChangeAttemptsMax lost races), kUnknownOutcome (undecided at `deadline`: read the newest to
// see).
Result<LoggedManifest> CommitChange(ManifestLog& log, TimePoint deadline, const ManifestChange& change);

// Lost races in a row before a change gives up: with the jittered waits between them, minutes of a busy log.
inline constexpr int kChangeAttemptsMax = 64;

}  // namespace batchweave
