// Upgrade: lets a stream use the features that newer software brought. From then on software that does not know them
// must not read, or not commit: so it is done by hand, when no older one is left.
#pragma once

#include <cstdint>

#include "batchweave/log/manifest_log.h"

namespace batchweave {

// Reader and writer features, as bits.
struct Features {
  uint64_t reader = 0;
  uint64_t writer = 0;
  bool none() const { return reader == 0 && writer == 0; }
  friend bool operator==(const Features&, const Features&) = default;
};

// What this software knows.
inline constexpr Features kKnownFeatures{.reader = kKnownReaderFeatures, .writer = kKnownWriterFeatures};

// What `known` has and the stream lacks: pure.
Features MissingFeatures(const Manifest& manifest, Features known);

// Adds what is missing to `next`, and takes none away: pure. False where nothing is missing.
bool ApplyUpgrade(Manifest& next, Features known);

// Commits that; returns the version, or the newest one where nothing is missing.
// Errors: those of CommitChange; kIncompatible (the stream is of newer software than this).
Result<LoggedManifest> UpgradeStream(ManifestLog& log, Features known, TimePoint deadline);

}  // namespace batchweave
