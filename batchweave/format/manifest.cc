#include "batchweave/format/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "batchweave/format/manifest_blocks.h"
#include "batchweave/format/manifest_check.h"
#include "batchweave/format/object_frame.h"

namespace batchweave {
namespace {

static_assert(kManifestPreludeBytes == kFrameBytes);

Error Corrupt(std::string_view reason) { return {ErrorCode::kCorrupt, std::string(reason)}; }

// The frame of a manifest: anything else that may lie in its place is an error.
Result<ObjectFrame> DecodeManifestFrame(ByteView prefix) {
  const ObjectFrame frame = BW_TRY(DecodeFrame(prefix));
  if (frame.kind == ObjectKind::kTombstone) return Error{ErrorCode::kTrimmed, "the version was retired"};
  if (frame.kind == ObjectKind::kManifest) return frame;
  return Corrupt(fmt::format("{} where a manifest should be", ObjectKindName(frame.kind)));
}

// Aborts with the rule that `checked` says was broken.
void RequireKept(const Result<void>& checked) {
  if (!checked.ok()) CheckFailed(checked.error().message.c_str(), __FILE__, __LINE__);
}

}  // namespace

Manifest EmptyManifest(StreamId stream_id, Hash128 stream_json_hash) {
  return {.stream_id = stream_id, .previous_hash = stream_json_hash};
}

Step SmallestHeld(const Manifest& manifest, const GroupRow& group) {
  Step smallest = group.start_held ? group.start : kNothingHeld;
  for (const Checkpoint& checkpoint : manifest.checkpoints) {
    if (checkpoint.group == group.name) smallest = std::min(smallest, checkpoint.position);
  }
  return smallest;
}

EncodedManifest EncodeManifest(const Manifest& manifest) {
  RequireKept(CheckManifest(manifest));
  for (const Entry& entry : manifest.tail) RequireKept(CheckEntry(entry));
  const Bytes rest = EncodeRestBlock(manifest);
  const Bytes head = EncodeHeadBlock(manifest, {.size_bytes = rest.size(), .hash = Hash64(rest)});
  return {.bytes = EncodeFramed(ObjectKind::kManifest, head, rest), .hash = HashOf128(head)};
}

Result<Manifest> DecodeManifest(ByteView object) {
  const ObjectFrame frame = BW_TRY(DecodeManifestFrame(object));
  if (object.size() != frame.object_end()) {
    return Corrupt(
        fmt::format("manifest has the wrong length: bytes={} expected={}", object.size(), frame.object_end()));
  }
  ManifestHead head = BW_TRY(DecodeManifestHead(object));
  return DecodeManifestRest(std::move(head), object.subspan(frame.first_end()));
}

Result<uint64_t> HeadBytesNeeded(ByteView prefix) { return BW_TRY(DecodeManifestFrame(prefix)).first_end(); }

Result<ManifestHead> DecodeManifestHead(ByteView prefix) {
  const ObjectFrame frame = BW_TRY(DecodeManifestFrame(prefix));
  const ByteView block = BW_TRY(DecodeFirstBlock(ObjectKind::kManifest, prefix));
  ManifestHead head = BW_TRY(DecodeHeadBlock(block));
  if (head.rest_bytes != frame.second_bytes) return Corrupt("head and frame of the manifest disagree");
  head.rest_offset = frame.first_end();
  head.hash = HashOf128(block);
  return head;
}

Result<void> CheckRestBlock(const ManifestHead& head, ByteView rest) {
  if (rest.size() != head.rest_bytes) {
    return Corrupt(
        fmt::format("rest of the manifest has the wrong length: bytes={} expected={}", rest.size(), head.rest_bytes));
  }
  if (const uint64_t found = Hash64(rest); found != head.rest_hash) {
    return Corrupt(fmt::format("checksum mismatch in the rest of the manifest: expected={:016x} found={:016x}",
                               head.rest_hash, found));
  }
  return {};
}

Result<Manifest> DecodeManifestRest(ManifestHead head, ByteView rest) {
  BW_TRY(CheckRestBlock(head, rest));
  BW_TRY(DecodeRestBlock(rest, head.manifest));
  BW_TRY(CheckManifest(head.manifest));
  return std::move(head.manifest);
}

Result<Hash128> ManifestHash(ByteView object) {
  BW_TRY(DecodeManifestFrame(object));
  return HashOf128(BW_TRY(DecodeFirstBlock(ObjectKind::kManifest, object)));
}

}  // namespace batchweave
