// PNG files of every kind that the format knows, for tests.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <vector>

#include "batchweave/base/bytes.h"

namespace batchweave::demo {

struct PngShape {
  uint32_t width = 1;
  uint32_t height = 1;
  int color_type = 2;  // As in the file: 0 grey, 2 red-green-blue, 3 palette, 4 grey and alpha, 6 the three and alpha.
  int bit_depth = 8;   // 1, 2, 4, 8 or 16, as far as the colour type allows.
  bool interlaced = false;
  bool transparent_zero = false;  // Types 0, 2 and 3: the colour of all zeros, or entry 0, is transparent.
};

inline void PrintTo(const PngShape& shape, std::ostream* out) {
  *out << shape.width << "x" << shape.height << " type " << shape.color_type << " depth " << shape.bit_depth
       << (shape.interlaced ? " interlaced" : "");
}

// How many values a pixel has in the file: 1 for grey and palette, to 4.
uint32_t SamplesAPixel(const PngShape& shape);

// One value of one pixel, below 2^bit_depth.
using PixelFunction = std::function<uint32_t(uint32_t x, uint32_t y, uint32_t sample)>;

// A PNG of that shape. The palette of type 3 has 2^bit_depth entries: entry i is (i, 255 - i, 2 * i mod 256).
Bytes WritePng(const PngShape& shape, const PixelFunction& value);

}  // namespace batchweave::demo
