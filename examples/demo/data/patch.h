// Images in sequences: cut in patches of 16 x 16 pixels, each of which takes one position, as in a vision transformer.
//
// Encoded, a patch is U8 width, U8 height, U8 channels, then width * height * channels bytes of pixels, row by row.
#pragma once

#include <cstdint>
#include <span>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"
#include "examples/demo/data/png.h"

namespace batchweave::demo {

// Patches at the right and lower edge of an image are smaller; no pixel is added, scaled or left out.
inline constexpr uint32_t kPatchSide = 16;

struct Patch {
  uint32_t width = 0;     // 1 to kPatchSide
  uint32_t height = 0;    // 1 to kPatchSide
  uint32_t channels = 0;  // 3 or 4
  ByteView pixels;        // Of the bytes that it was taken from.
};

// Encoded patches, one after the other, and where each ends.
struct Patches {
  Bytes bytes;
  std::vector<uint64_t> ends;
};

// All patches of `image`, row by row.
Patches CutInPatches(const Image& image);

// Takes the first of the encoded patches off `rest`. Errors: kCorrupt (a size out of range, or bytes missing).
Result<Patch> TakePatch(ByteView& rest);

}  // namespace batchweave::demo
