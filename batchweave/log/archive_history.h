// Keeps a version small however long the stream: the oldest entries of its tail become an archived object, refs of
// archived objects become an index, and rows of producers become a table. docs/protocol.md, A manifest version.
#pragma once

#include <cstdint>

#include "batchweave/base/result.h"
#include "batchweave/format/manifest.h"
#include "batchweave/log/dead_keys.h"
#include "batchweave/log/manifest_log.h"

namespace batchweave {

struct ArchiveLimits {
  // Between these the chance to archive rises from 0 to 1: of committers that race, few write an object for a version
  // that they then lose.
  uint64_t tail_bytes_low = uint64_t{96} << 10;
  uint64_t tail_bytes_high = uint64_t{160} << 10;
  // What stays in the tail: enough for a follower that is a few versions late.
  uint64_t tail_bytes_kept = uint64_t{32} << 10;
  // Of one object of archived entries, about; half of what the version adds, where that is more.
  uint64_t object_bytes_max = uint64_t{64} << 10;
  uint64_t rows_bytes_low = uint64_t{48} << 10;
  uint64_t rows_bytes_high = uint64_t{80} << 10;
  // Versions that must have passed since the opening of a producer that was forgotten before its row may go: as long as
  // an announced opening may still be taken.
  uint64_t row_versions_kept = kOpeningVersionsMax;
};

// Bytes that these take in a manifest, roughly.
uint64_t TailBytes(const Manifest& manifest);
uint64_t RowsBytes(const Manifest& manifest);

// Writes what has outgrown `next`, a version that is about to be committed, to archived objects and names them in it.
// Their keys are drawn anew at each call: a version that is lost to another committer leaves them to the reclaimer.
// Errors: those of PutUnique, and of ReadArchivedRows with kUnavailable for kNotFound: what `next` was built on is not the
// newest any more.
// `base_end` is the next_step of the version that `next` follows: a version that adds much keeps several times as much, so
// that who was told late still finds it there.
Result<void> ArchiveHistory(ManifestLog& log, Manifest& next, Step base_end, TimePoint deadline,
                            const ArchiveLimits& limits = {});

}  // namespace batchweave
