// What keeps a stream's data: its groups, and the holds of each.
#pragma once

#include <string>

#include "batchweave/log/manifest_log.h"
#include "cli/console.h"

namespace batchweave::cli {

// The groups with their holds and how far they have read; asks for each group's hint of that. No errors: where there is
// no hint the watermark counts.
Json GroupsJson(ManifestLog& log, const Manifest& manifest);

// The same for people: a table of every hold, each line begun with "  ", and what waits for it.
std::string GroupsText(ManifestLog& log, const Manifest& manifest);

}  // namespace batchweave::cli
