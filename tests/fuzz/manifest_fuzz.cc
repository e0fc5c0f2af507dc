// Any bytes are a manifest, a tombstone, or an error; and what decodes can be encoded again without a loss. A second
// way in goes around the checksums, which no fuzzer guesses.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/base/hash.h"
#include "batchweave/format/little_endian.h"
#include "batchweave/format/manifest.h"
#include "batchweave/format/manifest_blocks.h"
#include "batchweave/format/manifest_check.h"
#include "batchweave/format/manifest_glimpse.h"
#include "batchweave/format/manifest_steps.h"
#include "batchweave/format/object_frame.h"

namespace batchweave {
namespace {

void CheckEncodesAgain(const Manifest& manifest) {
  const Result<Manifest> again = DecodeManifest(EncodeManifest(manifest).bytes);
  BW_CHECK(again.ok() && *again == manifest);
}

void DecodeAsIs(ByteView object) {
  const Result<Manifest> manifest = DecodeManifest(object);
  // Its parts are taken also where the whole is none.
  const Result<ManifestSteps> steps = DecodeManifestSteps(object, {}, SIZE_MAX);
  const Result<ManifestGlimpse> glimpse = GlimpseManifest(object, {});
  if (manifest.ok()) {
    BW_CHECK(HeadBytesNeeded(object).ok() && DecodeManifestHead(object).ok() && ManifestHash(object).ok());
    BW_CHECK(steps.ok() && steps->entries == manifest->tail);
    BW_CHECK(glimpse.ok() && glimpse->recent == RecentProducers(*manifest));
    CheckEncodesAgain(*manifest);
  }
  static_cast<void>(DecodeManifestSteps(object, {1}, 2));
  const std::string producer = "p";
  static_cast<void>(GlimpseManifest(object, {&producer, 1}));
  const Result<Tombstone> tombstone = DecodeTombstone(object);
  if (tombstone.ok()) BW_CHECK(*DecodeTombstone(EncodeTombstone(*tombstone)) == *tombstone);
}

void DecodeBlocks(ByteView object) {
  constexpr size_t kFirstBytesAt = 16;
  if (object.size() < kFrameBytes) return;
  const auto first_bytes = LoadLittleEndian<uint64_t>(object, kFirstBytesAt);
  const ByteView blocks = object.subspan(kFrameBytes);
  if (first_bytes > blocks.size()) return;
  Result<ManifestHead> head = DecodeHeadBlock(blocks.first(first_bytes));
  if (!head.ok()) return;
  Manifest& manifest = head->manifest;
  const ByteView rest = blocks.subspan(first_bytes);
  const Bytes fitting = EncodeHeadBlock(manifest, {.size_bytes = rest.size(), .hash = Hash64(rest)});
  DecodeAsIs(EncodeFramed(ObjectKind::kManifest, fitting, rest));
  if (!DecodeRestBlock(rest, manifest).ok()) return;
  if (CheckManifest(manifest).ok()) CheckEncodesAgain(manifest);
}

}  // namespace
}  // namespace batchweave

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const batchweave::ByteView object = std::as_bytes(std::span(data, size));
  batchweave::DecodeAsIs(object);
  batchweave::DecodeBlocks(object);
  return 0;
}
