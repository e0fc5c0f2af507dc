// PNG files to pixels.
#pragma once

#include <cstdint>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"

namespace batchweave::demo {

// Rows from the top, pixels from the left, 8 bits a channel: red, green, blue, and alpha where there are four.
struct Image {
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t channels = 0;  // 3 or 4
  std::vector<uint8_t> pixels;
};

// More pixels than this are refused before memory is taken for them: a header of 33 bytes can ask for terabytes.
inline constexpr uint64_t kImagePixelsMax = uint64_t{1} << 26;

// Decodes a PNG of any colour type and bit depth, interlaced or not. Four channels where the file has alpha or a
// transparent colour, three otherwise; grey is repeated over red, green and blue; 16 bits are
// reduced to 8. Values are as the file has them: gamma and colour profiles are not applied.
// Errors: kCorrupt (not a PNG, cut short, or altered), kInvalidArgument (more than kImagePixelsMax pixels).
Result<Image> DecodePng(ByteView file);

}  // namespace batchweave::demo
