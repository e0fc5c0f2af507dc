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
  enum class Outcome { kCommitted, kLost };

  // `next` must succeed `base` (a bug where not: see BeginNext). Its commit id is drawn here and the chain is joined.
  // `log` must outlive it.
  PendingCommit(ManifestLog& log, const LoggedManifest& base, Manifest next);

  // Tries the slot, and reads back where the store's answer does not decide.
  // kCommitted: the version is ours. kLost: another took it: read the newest, check every precondition again, and make
  // a new PendingCommit. Errors: kUnknownOutcome (undecided at `deadline`: only Resolve() again, or give up); kDenied,
  // kInvalidArgument, kUnavailable (nothing was written, and nothing will be); kCorrupt (foreign bytes in the slot).
  Result<Outcome> Resolve(TimePoint deadline);

  // What was committed; only after kCommitted.
  const LoggedManifest& committed() const { return next_; }

 private:
  enum class Slot { kOurs, kTheirs, kEmpty };
  Result<Slot> ReadBack();
  Error Undecided(const Error& last) const;

  ManifestLog& log_;
  LoggedManifest next_;
  std::string key_;
  Bytes bytes_;
  bool may_land_ = false;  // An earlier try is of unknown outcome, and may still be applied.
};

}  // namespace batchweave
