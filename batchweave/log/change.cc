#include "batchweave/log/change.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "batchweave/log/pending_commit.h"

namespace batchweave {
namespace {

// After a lost race: long enough that the winner's next commit is not met again, growing so that many losers thin out.
constexpr Duration kFirstDelay = std::chrono::milliseconds(1);
constexpr Duration kDelayMax = std::chrono::seconds(2);

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
  const Env env = log.env();
  Duration delay = kFirstDelay;
  for (int attempt = 0; attempt < kChangeAttemptsMax; ++attempt) {
    LoggedManifest base = BW_TRY(log.ReadNewest());
    Manifest next = BW_TRY(BeginNext(base));
    if (!BW_TRY(change(next))) return base;
    PendingCommit commit(log, base, std::move(next));
    if (BW_TRY(commit.Resolve(deadline)) == PendingCommit::Outcome::kCommitted) return commit.committed();
    const auto jittered = std::chrono::duration_cast<Duration>(delay * (0.5 + NextUnit(env.random)));
    const TimePoint next_try = After(env.clock.Now(), jittered);
    if (next_try >= deadline) break;
    env.clock.SleepUntil(next_try);
    delay = std::min(delay * 2, kDelayMax);
  }
  return Error{ErrorCode::kUnavailable,
               fmt::format("other committers were first each time: name={}: try again", log.keys().name)};
}

}  // namespace batchweave
