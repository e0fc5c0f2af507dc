#include "batchweave/base/bytes.h"

#include <gtest/gtest.h>

#include <array>

namespace batchweave {
namespace {

TEST(BytesTest, TextAndBytesConvertBothWays) {
  EXPECT_EQ(AsText(AsBytes("abc")), "abc");
  EXPECT_EQ(AsText(ToBytes("abc")), "abc");
  EXPECT_TRUE(ToBytes("").empty());
}

TEST(BytesTest, HexadecimalHasTwoLowercaseDigitsAByte) {
  EXPECT_EQ(ToHex(AsBytes(std::string_view("\x00\x0f\xff", 3))), "000fff");
  EXPECT_EQ(ToHex(ByteView()), "");
}

TEST(BytesTest, JoinPutsPiecesOneAfterTheOther) {
  const std::array<ByteView, 3> pieces = {AsBytes("ab"), ByteView(), AsBytes("c")};
  EXPECT_EQ(AsText(Join(pieces)), "abc");
  EXPECT_EQ(TotalSize(pieces), 3u);
  EXPECT_TRUE(Join({}).empty());
}

TEST(BytesTest, SizesReadWell) {
  EXPECT_EQ(HumanSize(0), "0 bytes");
  EXPECT_EQ(HumanSize(1), "1 byte");
  EXPECT_EQ(HumanSize(1023), "1023 bytes");
  EXPECT_EQ(HumanSize(1024), "1.0 KiB");
  EXPECT_EQ(HumanSize(uint64_t{3} << 19), "1.5 MiB");
  EXPECT_EQ(HumanSize(UINT64_MAX), "16384.0 PiB");
}

TEST(BytesTest, ASizeNeverRoundsUpToAThousandAndTwentyFour) {
  EXPECT_EQ(HumanSize((uint64_t{1} << 20) - 1), "1.0 MiB");
  EXPECT_EQ(HumanSize((uint64_t{1} << 30) - 1), "1.0 GiB");
}

}  // namespace
}  // namespace batchweave
