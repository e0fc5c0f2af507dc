#include "examples/demo/data/testing/png_writer.h"

#include <png.h>

#include "batchweave/base/check.h"

namespace batchweave::demo {
namespace {

void Append(png_structp png, png_bytep data, png_size_t size) {
  auto* out = static_cast<Bytes*>(png_get_io_ptr(png));
  const ByteView piece = std::as_bytes(std::span(data, size));
  out->insert(out->end(), piece.begin(), piece.end());
}

void Flush(png_structp) {}

[[noreturn]] void Fail(png_structp, png_const_charp) {
  BW_CHECK(false);  // A shape that the format does not know: a bug in the test.
}

std::vector<png_byte> PackRow(const PngShape& shape, uint32_t y, const PixelFunction& value) {
  const uint32_t samples = SamplesAPixel(shape);
  const auto depth = static_cast<uint32_t>(shape.bit_depth);
  std::vector<png_byte> row((size_t{shape.width} * samples * depth + 7) / 8);
  size_t bit = 0;
  for (uint32_t x = 0; x < shape.width; ++x) {
    for (uint32_t sample = 0; sample < samples; ++sample, bit += depth) {
      const uint32_t v = value(x, y, sample);
      if (depth == 16) {
        row[bit / 8] = static_cast<png_byte>(v >> 8);
        row[bit / 8 + 1] = static_cast<png_byte>(v);
      } else {
        row[bit / 8] = static_cast<png_byte>(row[bit / 8] | v << (8 - depth - bit % 8));
      }
    }
  }
  return row;
}

std::vector<png_color> PaletteOf(int bit_depth) {
  std::vector<png_color> palette;
  for (int i = 0; i < 1 << bit_depth; ++i) {
    palette.push_back({static_cast<png_byte>(i), static_cast<png_byte>(255 - i), static_cast<png_byte>(2 * i)});
  }
  return palette;
}

}  // namespace

uint32_t SamplesAPixel(const PngShape& shape) {
  switch (shape.color_type) {
    case PNG_COLOR_TYPE_GRAY_ALPHA: return 2;
    case PNG_COLOR_TYPE_RGB: return 3;
    case PNG_COLOR_TYPE_RGB_ALPHA: return 4;
    default: return 1;
  }
}

Bytes WritePng(const PngShape& shape, const PixelFunction& value) {
  Bytes out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, Fail, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &out, Append, Flush);
  png_set_IHDR(png, info, shape.width, shape.height, shape.bit_depth, shape.color_type,
               shape.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (shape.color_type == PNG_COLOR_TYPE_PALETTE) {
    const std::vector<png_color> palette = PaletteOf(shape.bit_depth);
    png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
  }
  if (shape.transparent_zero) {
    const png_color_16 zero{};
    const png_byte alpha = 0;
    png_set_tRNS(png, info, &alpha, 1, &zero);
  }
  png_write_info(png, info);
  std::vector<std::vector<png_byte>> rows;
  for (uint32_t y = 0; y < shape.height; ++y) rows.push_back(PackRow(shape, y, value));
  std::vector<png_bytep> row_pointers;
  for (std::vector<png_byte>& row : rows) row_pointers.push_back(row.data());
  png_write_image(png, row_pointers.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return out;
}

}  // namespace batchweave::demo
