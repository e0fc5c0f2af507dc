#include "batchweave/log/change.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "batchweave/base/mutation.h"
#include "batchweave/log/archive_history.h"
#include "batchweave/log/deletion.h"
#include "batchweave/log/pending_commit.h"
#include "batchweave/store/backoff.h"

namespace batchweave {
namespace {

// After a lost race: long enough that the winner's next commit is not met again, growing so that many losers thin out.
constexpr RetryPolicy kRaces{.first_delay = std::chrono::milliseconds(2),
                             .delay_max = std::chrono::seconds(2),
                             .attempts_max = kChangeAttemptsMax};

Result<LoggedManifest> TryChange(ManifestLog& log, TimePoint deadline, const ManifestChange& change) {
  Backoff backoff(log.env().clock, log.env().random, kRaces, deadline);
  Error last{ErrorCode::kUnavailable,
             fmt::format("other committers were first each time: name={}: try again", log.keys().name)};
  std::optional<Manifest> first_made;  // For kChangeNotRebased.
  do {
    LoggedManifest base = BW_TRY(log.ReadNewest());
    Manifest next = BW_TRY(BeginNext(base));
    const bool again = BW_MUTATION(kChangeNotRebased) && first_made;
    const Result<bool> changed = again ? Result<bool>(true) : change(next);
    if (changed.ok() && !*changed) return base;
    if (BW_MUTATION(kChangeNotRebased) && changed.ok()) {
      if (!first_made) first_made = next;
      first_made->version = next.version;
      next = *first_made;
    }
    const Result<void> ready =
        changed.ok() ? ArchiveHistory(log, next, base.manifest.next_step, deadline) : changed.error();
    if (FailedWith(ready, ErrorCode::kUnavailable)) {
      last = ready.error();
      continue;
    }
    BW_TRY(ready);
    PendingCommit commit(log, base, std::move(next));
    if (BW_TRY(commit.Resolve(deadline)) == PendingCommit::Outcome::kCommitted) return commit.committed();
  } while (backoff.Wait());
  return last;
}

}  // namespace

Result<Manifest> BeginNext(const LoggedManifest& base) {
  const uint64_t unknown = base.manifest.writer_features & ~kKnownWriterFeatures;
  if (unknown != 0) {
    return Error{ErrorCode::kIncompatible,
                 fmt::format("the stream uses writer features that this software does not know: upgrade it: "
                             "version={} unknown_features={:#x}",
                             base.manifest.version.value, unknown)};
  }
  Manifest next = base.manifest;
  next.version = Next(base.manifest.version);
  return next;
}

Result<LoggedManifest> CommitChange(ManifestLog& log, TimePoint deadline, const ManifestChange& change) {
  Result<LoggedManifest> committed = TryChange(log, deadline, change);
  if (committed.ok()) return committed;
  return UnlessDeleted(log, std::move(committed).error());
}

}  // namespace batchweave
