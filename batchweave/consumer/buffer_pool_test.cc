#include "batchweave/consumer/buffer_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace batchweave {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(BufferPoolTest, GivesTheSizeAskedForAtAnAlignedAddress) {
  BufferPool pool(kMiB);
  for (const size_t size : {size_t{1}, size_t{63}, size_t{4096}, size_t{100'000}, size_t{5'000'000}}) {
    const PooledBuffer buffer = pool.Take(size);
    EXPECT_EQ(buffer.bytes().size(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.bytes().data()) % 64, 0u);
  }
}

TEST(BufferPoolTest, GivesTheLastReturnedFirst) {
  BufferPool pool(kMiB);
  std::optional<PooledBuffer> first = pool.Take(5000);
  std::optional<PooledBuffer> second = pool.Take(5000);
  const std::byte* const last_returned = first->bytes().data();
  second.reset();
  first.reset();
  EXPECT_EQ(pool.Take(5000).bytes().data(), last_returned);
}

TEST(BufferPoolTest, ABlockServesWhatIsNotMuchSmaller) {
  BufferPool pool(kMiB);
  const std::byte* const block = pool.Take(100'000).bytes().data();
  EXPECT_EQ(pool.Take(60'000).bytes().data(), block);
  const PooledBuffer small = pool.Take(10'000);
  EXPECT_NE(small.bytes().data(), block);
}

// Covers G7.
TEST(BufferPoolTest, KeepsNoMoreThanItMayAndForgetsTheOldest) {
  BufferPool pool(12'288);
  std::vector<PooledBuffer> buffers;
  for (int i = 0; i < 5; ++i) buffers.push_back(pool.Take(4096));
  const std::byte* const newest = buffers.back().bytes().data();
  for (PooledBuffer& buffer : buffers) buffer = PooledBuffer();
  EXPECT_EQ(pool.idle_bytes(), 12'288u);
  EXPECT_EQ(pool.Take(4096).bytes().data(), newest);
}

TEST(BufferPoolTest, ABufferMayOutliveItsPool) {
  std::optional<BufferPool> pool(kMiB);
  PooledBuffer buffer = pool->Take(4096);
  pool.reset();
  buffer.bytes()[0] = std::byte{1};
  EXPECT_EQ(buffer.bytes().size(), 4096u);
}

TEST(BufferPoolTest, AMovedFromBufferIsEmpty) {
  BufferPool pool(kMiB);
  PooledBuffer buffer = pool.Take(10);
  const PooledBuffer& moved_from = buffer;
  const PooledBuffer other = std::move(buffer);
  EXPECT_TRUE(moved_from.bytes().empty());
  EXPECT_EQ(other.bytes().size(), 10u);
}

}  // namespace
}  // namespace batchweave
