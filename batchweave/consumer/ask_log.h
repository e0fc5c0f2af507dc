// Puts the questions of a StepIndex to the manifest log and the archive.
#pragma once

#include "batchweave/base/result.h"
#include "batchweave/consumer/step_index.h"
#include "batchweave/log/manifest_log.h"

namespace batchweave {

// One question, one or two requests. Safe for concurrent use.
// Errors: those of the log's calls; of an archived object kNotFound, kCorrupt, kIncompatible, kUnavailable, kDenied.
Result<LogAnswer> AskLog(ManifestLog& log, const LogQuestion& question);

// Asks until the index knows the wanted step of `index`, and takes it; the newest version is read anew for it.
// Errors: kTrimmed, kNotFound (it is not committed, or the stream was deleted), and those of AskLog.
Result<KnownStep> LookUp(ManifestLog& log, Step step);

}  // namespace batchweave
