#include "batchweave/stream/group.h"

#include <utility>

#include "batchweave/base/fault_point.h"

namespace batchweave {
namespace {

// A checkpoint that is not registered after this long is reported, so that the job can go on and try again at the next.
constexpr Duration kCommitTime = std::chrono::minutes(2);

TimePoint Deadline(const ManifestLog& log) { return After(log.env().clock.Now(), kCommitTime); }

}  // namespace

Result<void> Group::Checkpoint(std::string_view name, Step position, CheckpointOptions options) {
  const CheckpointRequest request{.holder = holder_,
                                  .name = std::string(name),
                                  .position = position,
                                  .keep_last = options.keep_last,
                                  .pin = options.pin};
  if (!options.reclaim) {
    BW_TRY(RegisterCheckpoint(*log_, request, Deadline(*log_)));
    return {};
  }
  const LoggedManifest before = BW_TRY(log_->ReadNewest());
  const LoggedManifest after = BW_TRY(RegisterCheckpoint(*log_, request, Deadline(*log_)));
  BW_FAULT_POINT("checkpoint.registered");
  BW_TRY(ReclaimTrimmed(*log_, before.manifest, after.manifest));
  return {};
}

Result<void> Group::Release(std::string_view name) {
  BW_TRY(ReleaseCheckpoint(*log_, holder_, name, Deadline(*log_)));
  return {};
}

}  // namespace batchweave
