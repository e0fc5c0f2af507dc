#include "batchweave/log/pending_commit.h"

#include <fmt/format.h>

#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/base/fault_point.h"
#include "batchweave/base/mutation.h"
#include "batchweave/store/backoff.h"

namespace batchweave {
namespace {

// About half a minute on an unreachable store; the caller's deadline is usually nearer. The first delay is short: a
// committer that holds the outcome of a slot up holds up everything that it has to commit.
constexpr RetryPolicy kSlotTries{
    .first_delay = std::chrono::milliseconds(20), .delay_max = std::chrono::seconds(8), .attempts_max = 14};

bool KnowsNothingWasWritten(ErrorCode code) {
  return code == ErrorCode::kDenied || code == ErrorCode::kInvalidArgument;
}

}  // namespace

PendingCommit::PendingCommit(ManifestLog& log, const LoggedManifest& base, Manifest next)
    : log_(log), next_{.manifest = std::move(next), .hash = {}} {
  Manifest& manifest = next_.manifest;
  BW_CHECK(manifest.version == Next(base.manifest.version));
  Random& random = log.env_.random;
  const bool keeps_id = BW_MUTATION(kNewBodyForTheSlot) && manifest.commit_id != base.manifest.commit_id;
  if (!keeps_id) manifest.commit_id = {.bits = {.high = random.Next(), .low = random.Next()}};
  if (BW_MUTATION(kCommitIdOfTheVersion)) manifest.commit_id = {.bits = {.high = 1, .low = manifest.version.value}};
  if (!BW_MUTATION(kChainNotJoined)) manifest.previous_hash = base.hash;
  EncodedManifest encoded = EncodeManifest(manifest);
  next_.hash = encoded.hash;
  bytes_ = std::move(encoded.bytes);
  key_ = log.keys_.Manifest(manifest.version);
  BW_FAULT_POINT("commit.frozen");
}

Result<PendingCommit::Outcome> PendingCommit::Resolve(TimePoint deadline) {
  Backoff backoff(log_.env_.clock, log_.env_.random, kSlotTries, deadline);
  Error last{ErrorCode::kUnavailable, "not tried"};
  do {
    const bool blindly = BW_MUTATION(kRetryOverwrites) && may_land_;
    const PutMode mode = blindly ? PutMode::kOverwrite : PutMode::kCreate;
    const Result<void> put = PutBytes(log_.env_.store, key_, bytes_, mode);
    BW_FAULT_POINT("commit.sent");
    if (put.ok()) {
      log_.Learn(next_.manifest.version);
      return Outcome::kCommitted;
    }
    last = put.error();
    if (KnowsNothingWasWritten(last.code) && !may_land_) return last;
    // kUnavailable is the store's word that nothing happened; every other answer leaves open that this very try, or
    // an earlier delivery of it, was applied: only the slot itself can tell.
    if (last.code != ErrorCode::kUnavailable) may_land_ = true;
    if (BW_MUTATION(kUnknownTakenForWon) && last.code == ErrorCode::kUnknownOutcome) return Outcome::kCommitted;
    if (BW_MUTATION(kUnknownTakenForLost) && last.code == ErrorCode::kUnknownOutcome) return Outcome::kLost;
    if (BW_MUTATION(kExistsTakenForOurs) && last.code == ErrorCode::kAlreadyExists) return Outcome::kCommitted;
    if (!may_land_) continue;
    BW_FAULT_POINT("commit.undecided");
    Result<Slot> slot = ReadBack();
    // A tombstone may have come between two requests of one read.
    if (FailedWith(slot, ErrorCode::kCorrupt)) slot = ReadBack();
    if (FailedWith(slot, ErrorCode::kCorrupt)) return slot.error();
    if (slot.ok() && *slot == Slot::kOurs) return Outcome::kCommitted;
    if (slot.ok() && *slot == Slot::kTheirs) return Outcome::kLost;
    // Empty proves nothing, since a put may land late: the same bytes go to the same slot again.
  } while (backoff.Wait());
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
  return tombstone.commit_id == ours || BW_MUTATION(kTombstoneTakenForOurs) ? Slot::kOurs : Slot::kTheirs;
}

Error PendingCommit::Undecided(const Error& last) const {
  const ErrorCode code = may_land_ ? ErrorCode::kUnknownOutcome : ErrorCode::kUnavailable;
  return {code, fmt::format("the commit of version {} is {}: key={} last answer: {}", next_.manifest.version.value,
                            may_land_ ? "undecided" : "not made", key_, ToString(last))};
}

}  // namespace batchweave
