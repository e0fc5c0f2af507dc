#include "batchweave/lifecycle/upgrade.h"

#include "batchweave/log/change.h"

namespace batchweave {

Features MissingFeatures(const Manifest& manifest, Features known) {
  return {.reader = known.reader & ~manifest.reader_features, .writer = known.writer & ~manifest.writer_features};
}

bool ApplyUpgrade(Manifest& next, Features known) {
  if (MissingFeatures(next, known).none()) return false;
  next.reader_features |= known.reader;
  next.writer_features |= known.writer;
  return true;
}

Result<LoggedManifest> UpgradeStream(ManifestLog& log, Features known, TimePoint deadline) {
  return CommitChange(log, deadline, [&](Manifest& next) -> Result<bool> { return ApplyUpgrade(next, known); });
}

}  // namespace batchweave
