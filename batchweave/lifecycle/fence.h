// Fences a producer that never comes back: an opening that nobody holds. What it had uploaded and not committed is dead
// from then on, and goes with the next reclaim; a later opening of the name goes on at the committed cursor.
#pragma once

#include <string_view>

#include "batchweave/log/manifest_log.h"

namespace batchweave {

// Returns the version, or the newest one where there was nothing to fence: the producer has finished, or the stream is
// sealed. Only an operator who knows that the producer is gone should call it: a living one is stopped as `Fenced`.
// Errors: kNotFound (no such producer; the stream was deleted), and those of CommitChange and BringRows.
Result<LoggedManifest> FenceProducer(ManifestLog& log, std::string_view producer, TimePoint deadline);

}  // namespace batchweave
