#include "batchweave/log/deletion.h"

#include <fmt/format.h>

#include <utility>

#include "batchweave/base/mutation.h"
#include "batchweave/log/read_stream_info.h"

namespace batchweave {
namespace {

bool MayComeOfDeletion(ErrorCode code) {
  switch (code) {
    case ErrorCode::kCorrupt:
    case ErrorCode::kStalled:
    case ErrorCode::kUnavailable:
    case ErrorCode::kFenced:
    case ErrorCode::kNotFound: return true;
    default: return false;
  }
}

// Gone with all the rest, or another stream's by now: somebody removed it by hand.
bool IsDeleted(ManifestLog& log) {
  const Result<StoredStreamInfo> stored = ReadStreamInfo(log.env().store, log.keys().name);
  if (FailedWith(stored, ErrorCode::kNotFound)) return true;
  return stored.ok() && (stored->info.deleted || stored->info.stream_id != log.keys().stream_id);
}

}  // namespace

Error UnlessDeleted(ManifestLog& log, Error error) {
  if (BW_MUTATION(kDeletionNotTold) || !MayComeOfDeletion(error.code) || !IsDeleted(log)) return error;
  return {ErrorCode::kNotFound,
          fmt::format("the stream was deleted, and nothing more comes of this handle: go on with another stream: "
                      "name={} stream={} what failed: {}",
                      log.keys().name, ToString(log.keys().stream_id), ToString(error))};
}

DeletionWatch::DeletionWatch(ManifestLog& log)
    : log_(log), next_look_(After(log.env().clock.Now(), kDeletionLookInterval)) {}

void DeletionWatch::OnSuccess() {
  const TimePoint next_look = After(log_.env().clock.Now(), kDeletionLookInterval);
  const std::lock_guard lock(mutex_);
  next_look_ = next_look;
}

Error DeletionWatch::Explain(Error error) {
  if (error.code == ErrorCode::kStalled) {
    const TimePoint now = log_.env().clock.Now();
    const std::lock_guard lock(mutex_);
    if (now < next_look_) return error;
    next_look_ = After(now, kDeletionLookInterval);
  }
  return UnlessDeleted(log_, std::move(error));
}

}  // namespace batchweave
