#include "batchweave/base/hash.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "batchweave/testing/seeded_random.h"

namespace batchweave {
namespace {

Bytes RandomBytes(size_t size) {
  SeededRandom random(7);
  Bytes bytes(size);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random.Next()); });
  return bytes;
}

// Known answers: the bytes on the store depend on them for ever.
TEST(HashTest, GivesThePublishedValuesOfXxh3) {
  EXPECT_EQ(Hash64({}), 0x2d06800538d394c2u);
  EXPECT_EQ(ToHex(HashOf128({})), "99aa06d3014798d86001c324468d497f");
}

TEST(HashTest, PiecesHashAsTheWhole) {
  const Bytes bytes = RandomBytes(100'000);
  for (const size_t piece_size : {1u, 63u, 4096u, 100'000u}) {
    Hasher64 hasher;
    for (size_t at = 0; at < bytes.size(); at += piece_size) {
      hasher.Update(ByteView(bytes).subspan(at, std::min(piece_size, bytes.size() - at)));
    }
    EXPECT_EQ(hasher.Digest(), Hash64(bytes)) << piece_size;
  }
}

TEST(HashTest, ResetForgetsWhatCameBefore) {
  Hasher64 hasher;
  hasher.Update(AsBytes("old"));
  hasher.Reset();
  hasher.Update({});
  hasher.Update(AsBytes("new"));
  EXPECT_EQ(hasher.Digest(), Hash64(AsBytes("new")));
}

TEST(HashTest, AMovedHasherGoesOn) {
  Hasher64 first;
  first.Update(AsBytes("ab"));
  Hasher64 second = std::move(first);
  second.Update(AsBytes("c"));
  EXPECT_EQ(second.Digest(), Hash64(AsBytes("abc")));
}

TEST(HashTest, CopyAndHashDoesBoth) {
  // Around a cache line, around the blocks that are copied, and around what is stored past the caches.
  for (const size_t size : {0u, 1u, 63u, 1024u, 262'143u, 262'144u, 262'145u, 300'000u}) {
    const Bytes padded = RandomBytes(size + 1);
    const ByteView from = ByteView(padded).subspan(1);  // Not aligned.
    // To the borders of cache lines and words, and nothing beyond.
    for (const size_t shift : {0u, 1u, 15u, 16u, 63u}) {
      Bytes to(shift + size + 1, std::byte{7});
      EXPECT_EQ(CopyAndHash64(from, MutableByteView(to).subspan(shift, size)), Hash64(from));
      EXPECT_TRUE(std::ranges::equal(ByteView(to).subspan(shift, size), from)) << size << " bytes at " << shift;
      EXPECT_TRUE(std::ranges::all_of(ByteView(to).first(shift), [](std::byte byte) { return byte == std::byte{7}; }));
      EXPECT_EQ(to.back(), std::byte{7});
    }
  }
}

TEST(HashTest, HexOfAHashKeepsItsLeadingZeros) {
  EXPECT_EQ(ToHex(Hash128{.high = 1, .low = 0xab}), "000000000000000100000000000000ab");
}

}  // namespace
}  // namespace batchweave
