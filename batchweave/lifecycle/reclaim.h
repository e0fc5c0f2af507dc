// Reclaim: removes what no version will ever reach again, and retires old versions. Nobody else deletes anything (but a
// probe its own, and who deletes a whole stream).
//
// May be stopped at any point and run again, anywhere, several at once. Needs the right to list, delete and overwrite.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "batchweave/log/manifest_log.h"

namespace batchweave {

struct ReclaimReport {
  uint64_t objects = 0;  // Removed; of a dry run, what would be.
  uint64_t bytes = 0;
  uint64_t tombstones = 0;               // Versions retired.
  uint64_t uploads = 0;                  // In parts, that were never completed: aborted.
  std::optional<Error> uploads_error{};  // Why not all of those were; all else is done.
  uint64_t not_understood = 0;           // Keys that are not ours, left alone.
  std::vector<std::string> examples{};   // Of those, kExamplesMax at most.

  static constexpr size_t kExamplesMax = 10;
};

struct ReclaimOptions {
  bool dry_run = false;                                  // Only count.
  bool overwrite_probed = false;                         // This process has tried ProbeOverwrite on this store already.
  std::function<void(const ReclaimReport&)> progress{};  // Told after each batch of deletes and tombstones.
};

// The whole sweep: LIST, then the newest version, then DELETE, in rounds. Its cost is that of listing what is stored and
// of walking what the version reaches, besides what it removes. Last come uploads in parts that were never completed, by
// the rule for the objects that they would become.
// Errors: kDenied (a right is missing), kUnsuitableStore (an overwrite of this store can be seen as absence: nothing was
// retired), kIncompatible (the stream is of newer software, which may know what this one takes for dead), kNotFound (the
// stream was deleted), kCorrupt, kUnavailable: run it again. What fails of uploads alone is in the report.
Result<ReclaimReport> Reclaim(ManifestLog& log, const ReclaimOptions& options = {});

// Removes what went out of reach by trims between two committed versions, `after` the later one: the cost is that of
// what it removes. For the moment after a checkpoint; what it misses when it is stopped, Reclaim finds.
// Errors: as Reclaim. `before` may be of any age: where its archived objects are gone already, so is what they named.
Result<ReclaimReport> ReclaimTrimmed(ManifestLog& log, const Manifest& before, const Manifest& after);

}  // namespace batchweave
