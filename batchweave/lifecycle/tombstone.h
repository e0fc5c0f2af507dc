// Retires old versions: each is overwritten by a tombstone, which keeps its slot occupied for ever (I1 of
// docs/protocol.md), its link of the chain provable, and its commit id known to a committer that still wonders.
//
// Versions are retired one by one from the oldest, whoever does it and however often it is interrupted; so tombstones
// are always versions 1..n for some n, and where a run goes on is found by bisecting.
#pragma once

#include <cstdint>
#include <functional>

#include "batchweave/log/manifest_log.h"

namespace batchweave {

// The newest versions that keep their content: a reader or committer that paused for fewer commits finds them.
inline constexpr uint64_t kLiveVersions = 64;

// Versions [first, end).
struct VersionRange {
  Version first{};
  Version end{};
  uint64_t count() const { return end.value - first.value; }
};

// The versions to be retired where `newest` is the newest one: all that are older than kLiveVersions and no tombstones
// yet. Asks about twice the logarithm of their number. Errors: kNotFound (a slot is empty: the stream is being deleted),
// kCorrupt, kIncompatible, kUnavailable, kDenied.
Result<VersionRange> FindRetirable(ManifestLog& log, Version newest);

// Retires them in order, two requests each; `retired` is told after each. Only on a store that passed ProbeOverwrite.
// Several at once may do the same. Errors: kUnavailable (also of unknown outcome: run it again), and as FindRetirable.
Result<void> RetireVersions(ManifestLog& log, VersionRange range, const std::function<void(Version)>& retired);

}  // namespace batchweave
