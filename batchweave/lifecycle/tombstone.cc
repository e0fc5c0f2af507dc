#include "batchweave/lifecycle/tombstone.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "batchweave/base/fault_point.h"
#include "batchweave/base/mutation.h"
#include "batchweave/format/object_frame.h"

namespace batchweave {
namespace {

Result<bool> IsTombstone(ManifestLog& log, Version version) {
  if (version == Version{0}) return true;  // Implicit: nothing lies there to be retired.
  std::array<std::byte, kFrameBytes> prefix{};
  const std::string key = log.keys().Manifest(version);
  ReadRequest request{.key = key, .buffer = prefix};
  BW_TRY(log.env().store.Get({&request, 1}));
  const ObjectFrame frame = BW_TRY(DecodeFrame(ByteView(prefix).first(request.received_bytes)));
  return frame.kind == ObjectKind::kTombstone;
}

Result<void> Retire(ManifestLog& log, Version version) {
  const Result<ManifestHead> head = log.ReadHead(version);
  if (FailedWith(head, ErrorCode::kTrimmed)) return {};  // Another reclaimer was here.
  const ManifestHead& read = BW_TRY(head);
  const std::string key = log.keys().Manifest(version);
  if (BW_MUTATION(kDeletesOldVersions)) return log.env().store.Delete({&key, 1});
  const CommitId commit_id = BW_MUTATION(kTombstoneForgetsItsCommit) ? CommitId{} : read.manifest.commit_id;
  const Bytes tombstone = EncodeTombstone(
      {.version = version, .commit_id = commit_id, .hash = read.hash, .previous_hash = read.manifest.previous_hash});
  Result<void> put = PutBytes(log.env().store, log.keys().Manifest(version), tombstone, PutMode::kOverwrite);
  if (FailedWith(put, ErrorCode::kDenied)) {
    return WithContext(put.error(), fmt::format("the right to overwrite is missing: version={}", version.value));
  }
  if (!FailedWith(put, ErrorCode::kUnknownOutcome)) return put;
  return Error{ErrorCode::kUnavailable, "a version may not be retired yet: run it again: " + put.error().message};
}

}  // namespace

Result<VersionRange> FindRetirable(ManifestLog& log, Version newest) {
  const Version end{newest.value < kLiveVersions ? 1 : newest.value - kLiveVersions + 1};
  if (BW_MUTATION(kRetiresTheNewest)) return VersionRange{.first = newest, .end = Next(newest)};
  // Gallop down from the end to a tombstone, then bisect: `retired` is one, `kept` is none or the end.
  uint64_t kept = end.value;
  uint64_t retired = end.value - 1;
  for (uint64_t stride = 1; !BW_TRY(IsTombstone(log, {retired})); stride *= 2) {
    kept = retired;
    retired -= std::min(stride, retired);
  }
  while (kept - retired > 1) {
    const uint64_t middle = retired + (kept - retired) / 2;
    (BW_TRY(IsTombstone(log, {middle})) ? retired : kept) = middle;
  }
  return VersionRange{.first = {kept}, .end = end};
}

Result<void> RetireVersions(ManifestLog& log, VersionRange range, const std::function<void(Version)>& retired) {
  for (Version version = range.first; version < range.end; version = Next(version)) {
    BW_TRY(Retire(log, version));
    BW_FAULT_POINT("reclaim.retired");
    retired(version);
  }
  return {};
}

}  // namespace batchweave
