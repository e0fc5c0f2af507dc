#include "batchweave/log/pending_commit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "batchweave/base/check.h"

namespace batchweave {
namespace {

// With the delays below about a minute on an unreachable store; the caller's deadline is usually nearer.
constexpr int kTriesMax = 12;
constexpr Duration kFirstDelay = std::chrono::milliseconds(20);
constexpr Duration kDelayMax = std::chrono::seconds(8);

bool KnowsNothingWasWritten(ErrorCode code) {
  return code == ErrorCode::kDenied || code == ErrorCode::kInvalidArgument;
}

}  // namespace

PendingCommit::PendingCommit(ManifestLog& log, const LoggedManifest& base, Manifest next)
    : log_(log), next_{.manifest = std::move(next), .hash = {}} {
  Manifest& manifest = next_.manifest;
  BW_CHECK(manifest.version == Next(base.manifest.version));
  Random& random = log.env_.random;
  manifest.commit_id = {.bits = {.high = random.Next(), .low = random.Next()}};
  manifest.previous_hash = base.hash;
  EncodedManifest encoded = EncodeManifest(manifest);
  next_.hash = encoded.hash;
  bytes_ = std::move(encoded.bytes);
  key_ = log.keys_.Manifest(manifest.version);
}

Result<PendingCommit::Outcome> PendingCommit::Resolve(TimePoint deadline) {
  Clock& clock = log_.env_.clock;
  Error last{ErrorCode::kUnavailable, "not tried"};
  Duration delay = kFirstDelay;
  for (int attempt = 0; attempt < kTriesMax; ++attempt) {
    const Result<void> put = PutBytes(log_.env_.store, key_, bytes_, PutMode::kCreate);
    if (put.ok()) {
      log_.Learn(next_.manifest.version);
      return Outcome::kCommitted;
    }
    last = put.error();
    if (KnowsNothingWasWritten(last.code) && !may_land_) return last;
    // kUnavailable is the store's word that nothing happened; every other answer leaves open that this very try, or
    // an earlier delivery of it, was applied: only the slot itself can tell.
    if (last.code != ErrorCode::kUnavailable) may_land_ = true;
    if (may_land_) {
      const Result<Slot> slot = ReadBack();
      if (FailedWith(slot, ErrorCode::kCorrupt)) return slot.error();
      if (slot.ok() && *slot == Slot::kOurs) return Outcome::kCommitted;
      if (slot.ok() && *slot == Slot::kTheirs) return Outcome::kLost;
      // Empty proves nothing, since a put may land late: the same bytes go to the same slot again.
    }
    const TimePoint next_try = After(clock.Now(), std::chrono::duration_cast<Duration>(
                                                      delay * (0.5 + NextUnit(log_.env_.random))));
    if (next_try >= deadline) break;
    clock.SleepUntil(next_try);
    delay = std::min(delay * 2, kDelayMax);
  }
  return Undecided(last);
}

Result<PendingCommit::Slot> PendingCommit::ReadBack() {
  const Result<Bytes> object = log_.env_.store.Read(key_);
  if (FailedWith(object, ErrorCode::kNotFound)) return Slot::kEmpty;
  if (!object.ok()) return object.error();
  log_.Learn(next_.manifest.version);
  const CommitId ours = next_.manifest.commit_id;
  const Result<Manifest> found = DecodeManifest(*object);
  if (found.ok()) return found->commit_id == ours ? Slot::kOurs : Slot::kTheirs;
  // Newer software wrote it: not we.
  if (found.error().code == ErrorCode::kIncompatible) return Slot::kTheirs;
  if (found.error().code != ErrorCode::kTrimmed) return WithContext(found.error(), key_);
  const Tombstone tombstone = BW_TRY(DecodeTombstone(*object));
  return tombstone.commit_id == ours ? Slot::kOurs : Slot::kTheirs;
}

Error PendingCommit::Undecided(const Error& last) const {
  const ErrorCode code = may_land_ ? ErrorCode::kUnknownOutcome : ErrorCode::kUnavailable;
  return {code, fmt::format("the commit of version {} is {}: key={} last answer: {}", next_.manifest.version.value,
                            may_land_ ? "undecided" : "not made", key_, ToString(last))};
}

}  // namespace batchweave
