#include "examples/demo/data/patch.h"

#include <fmt/format.h>

#include <algorithm>

namespace batchweave::demo {
namespace {

constexpr size_t kHeaderBytes = 3;

void AppendPatch(const Image& image, uint32_t left, uint32_t top, Bytes& out) {
  const uint32_t width = std::min(kPatchSide, image.width - left);
  const uint32_t height = std::min(kPatchSide, image.height - top);
  out.push_back(static_cast<std::byte>(width));
  out.push_back(static_cast<std::byte>(height));
  out.push_back(static_cast<std::byte>(image.channels));
  const ByteView pixels = std::as_bytes(std::span(image.pixels));
  const size_t row_bytes = size_t{image.width} * image.channels;
  for (uint32_t y = top; y < top + height; ++y) {
    const ByteView row = pixels.subspan(y * row_bytes + size_t{left} * image.channels, size_t{width} * image.channels);
    out.insert(out.end(), row.begin(), row.end());
  }
}

bool IsSide(uint32_t length) { return length >= 1 && length <= kPatchSide; }

}  // namespace

Patches CutInPatches(const Image& image) {
  Patches patches;
  for (uint32_t top = 0; top < image.height; top += kPatchSide) {
    for (uint32_t left = 0; left < image.width; left += kPatchSide) {
      AppendPatch(image, left, top, patches.bytes);
      patches.ends.push_back(patches.bytes.size());
    }
  }
  return patches;
}

Result<Patch> TakePatch(ByteView& rest) {
  if (rest.size() < kHeaderBytes) return Error{ErrorCode::kCorrupt, "patch ends too early"};
  Patch patch{.width = std::to_integer<uint32_t>(rest[0]),
              .height = std::to_integer<uint32_t>(rest[1]),
              .channels = std::to_integer<uint32_t>(rest[2]),
              .pixels = {}};
  if (!IsSide(patch.width) || !IsSide(patch.height) || (patch.channels != 3 && patch.channels != 4)) {
    return Error{ErrorCode::kCorrupt, fmt::format("patch of an impossible shape: width={} height={} channels={}",
                                                  patch.width, patch.height, patch.channels)};
  }
  const size_t pixel_bytes = size_t{patch.width} * patch.height * patch.channels;
  if (rest.size() - kHeaderBytes < pixel_bytes) return Error{ErrorCode::kCorrupt, "patch ends too early"};
  patch.pixels = rest.subspan(kHeaderBytes, pixel_bytes);
  rest = rest.subspan(kHeaderBytes + pixel_bytes);
  return patch;
}

}  // namespace batchweave::demo
