// One attempt at one slot of the manifest log. Its bytes are frozen when it is made, so that however often the outcome
// is unknown, the slot is only ever tried with the same bytes (docs/protocol.md, Commit).
//
// Not safe for concurrent use. While it is undecided its owner may only call Resolve() again, or give up for good.
#pragma once

#include "batchweave/base/result.h"
#include "batchweave/format/manifest.h"
#include "batchweave/log/manifest_log.h"

namespace batchweave {

class PendingCommit {
 public:
  // `manifest` succeeds `base` (checked: a bug where not); its commit id is drawn here and previous_hash filled in.
  // `log` must outlive it.
  PendingCommit(ManifestLog& log, const LoggedManifest& base, Manifest manifest);

  enum class Outcome { kCommitted, kLost };

  // Tries the slot, and reads back where the store's answer does not decide.
  // kCommitted: the version is ours. kLost: another took it: read the newest, check every precondition again, and make
  // a new PendingCommit. Errors: kUnknownOutcome (still undecided: only Resolve() again, or give up), kDenied,
  // kInvalidArgument and kUnavailable (nothing was written, and nothing will be).
  Result<Outcome> Resolve(TimePoint deadline);

  // What was committed; only after kCommitted.
  const LoggedManifest& committed() const { return next_; }

 private:
  ManifestLog& log_;
  LoggedManifest next_;
  Bytes bytes_;
  bool undecided_ = false;  // An earlier try may still land.
};

}  // namespace batchweave
