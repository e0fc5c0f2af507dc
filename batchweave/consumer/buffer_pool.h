// Buffers that are used again, last returned first: the newest is still in cache, and its pages are mapped. Fresh
// buffers for each step lose 30 to 85 % of the bandwidth to page faults.
#pragma once

#include <memory>

#include "batchweave/base/bytes.h"

namespace batchweave {

class BufferPool;

// A buffer on loan; goes back to the pool when destroyed, or is freed where the pool is gone. Move-only.
class PooledBuffer {
 public:
  PooledBuffer() = default;
  PooledBuffer(PooledBuffer&&) noexcept;
  PooledBuffer& operator=(PooledBuffer&&) noexcept;
  ~PooledBuffer();

  // Of the size asked for, begun at a multiple of 64 bytes; the content is undefined at first.
  MutableByteView bytes() const;

 private:
  friend class BufferPool;
  struct Block;
  struct Shelf;
  std::unique_ptr<Block> block_;
  size_t size_bytes_ = 0;
  std::shared_ptr<Shelf> shelf_;  // Shared: batches may outlive the consumer and its pool.
};

// Safe for concurrent use.
class BufferPool {
 public:
  // Keeps at most `idle_bytes_max` of returned buffers.
  explicit BufferPool(uint64_t idle_bytes_max);
  ~BufferPool();

  PooledBuffer Take(size_t size_bytes);

 private:
  std::shared_ptr<PooledBuffer::Shelf> shelf_;  // Shared with the buffers on loan.
};

}  // namespace batchweave
