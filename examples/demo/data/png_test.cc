#include "examples/demo/data/png.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "batchweave/testing/matchers.h"
#include "examples/demo/data/testing/png_writer.h"

namespace batchweave::demo {
namespace {

std::vector<PngShape> AllShapes() {
  std::vector<PngShape> shapes;
  const std::vector<std::pair<int, std::vector<int>>> kinds = {
      {0, {1, 2, 4, 8, 16}}, {2, {8, 16}}, {3, {1, 2, 4, 8}}, {4, {8, 16}}, {6, {8, 16}}};
  for (const auto& [color_type, depths] : kinds) {
    for (const int depth : depths) {
      for (const bool interlaced : {false, true}) {
        shapes.push_back(
            {.width = 19, .height = 11, .color_type = color_type, .bit_depth = depth, .interlaced = interlaced});
      }
    }
  }
  return shapes;
}

PixelFunction Pattern(const PngShape& shape) {
  return [depth = shape.bit_depth](uint32_t x, uint32_t y, uint32_t sample) {
    return (x * 2311 + y * 5099 + sample * 811 + x * y * 37) % (1u << depth);
  };
}

// The value of `channel` (0 to 3) that the written values mean, by the PNG specification.
double Expected(const PngShape& shape, uint32_t x, uint32_t y, uint32_t channel) {
  const PixelFunction value = Pattern(shape);
  if (shape.color_type == 3) {
    const uint32_t entry = value(x, y, 0);
    const std::array<uint32_t, 3> color = {entry, 255 - entry, 2 * entry % 256};
    return color[channel];
  }
  const bool grey = shape.color_type == 0 || shape.color_type == 4;
  const uint32_t sample = !grey ? channel : channel == 3 ? 1 : 0;
  return value(x, y, sample) * 255.0 / ((1u << shape.bit_depth) - 1);
}

class DecodePngTest : public ::testing::TestWithParam<PngShape> {};

TEST_P(DecodePngTest, GivesTheValuesThatWereWritten) {
  const PngShape shape = GetParam();
  const Result<Image> image = DecodePng(WritePng(shape, Pattern(shape)));
  ASSERT_THAT(image, IsOk());
  const uint32_t channels = shape.color_type == 4 || shape.color_type == 6 ? 4 : 3;
  ASSERT_EQ(image->channels, channels);
  ASSERT_EQ(image->width, shape.width);
  ASSERT_EQ(image->height, shape.height);
  ASSERT_EQ(image->pixels.size(), size_t{shape.width} * shape.height * channels);
  for (uint32_t y = 0; y < shape.height; ++y) {
    for (uint32_t x = 0; x < shape.width; ++x) {
      for (uint32_t channel = 0; channel < channels; ++channel) {
        const uint8_t found = image->pixels[(size_t{y} * shape.width + x) * channels + channel];
        // 16 bits are rounded to 8.
        ASSERT_NEAR(found, Expected(shape, x, y, channel), 0.51) << "x=" << x << " y=" << y << " channel=" << channel;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryTypeAndDepth, DecodePngTest, ::testing::ValuesIn(AllShapes()));

TEST(PngTest, TransparentColourBecomesAlpha) {
  for (const PngShape shape : {PngShape{.width = 3, .color_type = 0, .bit_depth = 2, .transparent_zero = true},
                               PngShape{.width = 3, .color_type = 2, .bit_depth = 16, .transparent_zero = true},
                               PngShape{.width = 3, .color_type = 3, .bit_depth = 4, .transparent_zero = true}}) {
    const Image image = DecodePng(WritePng(shape, [](uint32_t x, uint32_t, uint32_t) { return x; })).value();
    ASSERT_EQ(image.channels, 4u);
    EXPECT_EQ(image.pixels[3], 0);
    EXPECT_EQ(image.pixels[7], 255);
    EXPECT_EQ(image.pixels[11], 255);
  }
}

TEST(PngTest, FileCutShortAnywhereIsCorrupt) {
  const PngShape shape{.width = 19, .height = 11, .color_type = 6};
  const Bytes file = WritePng(shape, Pattern(shape));
  for (size_t size = 0; size < file.size(); ++size) {
    ASSERT_THAT(DecodePng(ByteView(file).first(size)), IsError(ErrorCode::kCorrupt)) << "size=" << size;
  }
}

TEST(PngTest, FileWithOneByteAlteredIsCorrupt) {
  const PngShape shape{.width = 5, .height = 4, .color_type = 3, .bit_depth = 2, .interlaced = true};
  const Bytes file = WritePng(shape, Pattern(shape));
  for (size_t i = 0; i < file.size(); ++i) {
    Bytes altered = file;
    altered[i] ^= std::byte{0x10};
    // An altered size in the header may also be too large.
    ASSERT_FALSE(DecodePng(altered).ok()) << "byte=" << i;
  }
}

TEST(PngTest, ForeignFileIsCorrupt) {
  EXPECT_THAT(DecodePng({}), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(DecodePng(AsBytes("<svg xmlns='...'></svg>, which is not a PNG at all")), IsError(ErrorCode::kCorrupt));
}

TEST(PngTest, HeaderThatAsksForTooMuchIsRefusedBeforeMemoryIsTaken) {
  // 1 bit a pixel of zeros compresses to a few KB, and would take 300 MB as RGB.
  const Bytes file = WritePng({.width = 10'001, .height = 10'001, .color_type = 0, .bit_depth = 1},
                              [](uint32_t, uint32_t, uint32_t) { return 0; });
  EXPECT_THAT(DecodePng(file), IsError(ErrorCode::kInvalidArgument, ::testing::HasSubstr("width=10001")));
}

}  // namespace
}  // namespace batchweave::demo
