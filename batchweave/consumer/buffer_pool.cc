#include "batchweave/consumer/buffer_pool.h"

#include <sys/mman.h>

#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "batchweave/base/check.h"

namespace batchweave {
namespace {

constexpr size_t kAlignment = 64;

// Blocks are whole pages, so that batches of nearly one size share them.
constexpr size_t kPageBytes = 4096;

// Memory that is used for as long as a stream is worth huge pages, where the system gives them when asked: fewer faults
// and less to translate, 5 % of a prefetched step of 8 MiB.
constexpr size_t kHugePageBytes = size_t{2} << 20;

// A block serves requests down to this fraction of it: a smaller one would waste more memory than it saves.
constexpr size_t kWasteMax = 2;

size_t AlignmentOf(size_t capacity) { return capacity < kHugePageBytes ? kAlignment : kHugePageBytes; }

std::byte* Allocate(size_t capacity) {
  auto* const data = static_cast<std::byte*>(::operator new(capacity, std::align_val_t{AlignmentOf(capacity)}));
  // The end that fills no huge page stays as it is. Where the system refuses, nothing is lost.
  const size_t huge_bytes = capacity / kHugePageBytes * kHugePageBytes;
  if (huge_bytes > 0) static_cast<void>(madvise(data, huge_bytes, MADV_HUGEPAGE));
  return data;
}

size_t CapacityFor(size_t size_bytes) { return (size_bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

}  // namespace

struct PooledBuffer::Block {
  explicit Block(size_t capacity) : capacity_bytes(capacity), data(Allocate(capacity)) {}
  ~Block() { ::operator delete(data, std::align_val_t{AlignmentOf(capacity_bytes)}); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  const size_t capacity_bytes;
  std::byte* const data;
};

struct PooledBuffer::Shelf {
  std::unique_ptr<Block> Find(size_t size_bytes);
  void Return(std::unique_ptr<Block> block);
  void ShrinkTo(uint64_t bytes_max, std::vector<std::unique_ptr<Block>>& freed);

  mutable std::mutex mutex;
  std::vector<std::unique_ptr<Block>> idle;  // The last returned at the end.
  uint64_t idle_bytes = 0;
  uint64_t idle_bytes_max = 0;
};

std::unique_ptr<PooledBuffer::Block> PooledBuffer::Shelf::Find(size_t size_bytes) {
  const std::lock_guard lock(mutex);
  for (auto at = idle.rbegin(); at != idle.rend(); ++at) {
    const size_t capacity = (*at)->capacity_bytes;
    if (capacity < size_bytes || capacity / kWasteMax > CapacityFor(size_bytes)) continue;
    std::unique_ptr<Block> found = std::move(*at);
    idle.erase(std::next(at).base());
    idle_bytes -= capacity;
    return found;
  }
  return nullptr;
}

void PooledBuffer::Shelf::Return(std::unique_ptr<Block> block) {
  std::vector<std::unique_ptr<Block>> freed;  // After the lock is let go: freeing unmaps pages.
  const std::lock_guard lock(mutex);
  idle_bytes += block->capacity_bytes;
  idle.push_back(std::move(block));
  ShrinkTo(idle_bytes_max, freed);
}

void PooledBuffer::Shelf::ShrinkTo(uint64_t bytes_max, std::vector<std::unique_ptr<Block>>& freed) {
  size_t count = 0;
  for (; idle_bytes > bytes_max; ++count) {
    idle_bytes -= idle[count]->capacity_bytes;
    freed.push_back(std::move(idle[count]));
  }
  idle.erase(idle.begin(), idle.begin() + static_cast<std::ptrdiff_t>(count));
}

PooledBuffer::PooledBuffer() = default;

PooledBuffer::PooledBuffer(PooledBuffer&& other) noexcept
    : block_(std::move(other.block_)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      shelf_(std::move(other.shelf_)) {}

PooledBuffer& PooledBuffer::operator=(PooledBuffer&& other) noexcept {
  if (this == &other) return *this;
  GiveBack();
  block_ = std::move(other.block_);
  size_bytes_ = std::exchange(other.size_bytes_, 0);
  shelf_ = std::move(other.shelf_);
  return *this;
}

PooledBuffer::~PooledBuffer() { GiveBack(); }

MutableByteView PooledBuffer::bytes() const {
  return block_ ? MutableByteView(block_->data, size_bytes_) : MutableByteView();
}

void PooledBuffer::GiveBack() {
  if (block_) shelf_->Return(std::move(block_));
}

// Shared: the shelf lives as long as the last buffer on loan.
BufferPool::BufferPool(uint64_t idle_bytes_max) : shelf_(std::make_shared<PooledBuffer::Shelf>()) {
  shelf_->idle_bytes_max = idle_bytes_max;
}

BufferPool::~BufferPool() {
  std::vector<std::unique_ptr<PooledBuffer::Block>> freed;
  const std::lock_guard lock(shelf_->mutex);
  shelf_->idle_bytes_max = 0;
  shelf_->ShrinkTo(0, freed);
}

PooledBuffer BufferPool::Take(size_t size_bytes) {
  BW_CHECK(size_bytes > 0);
  PooledBuffer buffer;
  buffer.block_ = shelf_->Find(size_bytes);
  if (!buffer.block_) buffer.block_ = std::make_unique<PooledBuffer::Block>(CapacityFor(size_bytes));
  buffer.size_bytes_ = size_bytes;
  buffer.shelf_ = shelf_;
  return buffer;
}

uint64_t BufferPool::idle_bytes() const {
  const std::lock_guard lock(shelf_->mutex);
  return shelf_->idle_bytes;
}

}  // namespace batchweave
