#include "batchweave/producer/global_batch.h"

#include <fmt/format.h>

#include <utility>

#include "batchweave/format/entry.h"

namespace batchweave {

Result<void> CheckBatchShape(Grid grid, const BatchOptions& options) {
  if (!IsGrid(grid)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("a grid has 1 to {} slices: grid={}x{}", kGridSlicesMax, grid.dp, grid.cp)};
  }
  if (!IsContentType(options.content_type)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("a content type is printable and not too long: bytes={} max={}",
                             options.content_type.size(), kContentTypeBytesMax)};
  }
  return {};
}

GlobalBatch::GlobalBatch(Grid grid, BatchOptions options) : grid_(grid), options_(std::move(options)) {
  // An impossible grid has no contents: CheckComplete says what is wrong with it.
  if (grid_.slices() <= kGridSlicesMax) contents_.resize(grid_.slices());
}

Result<void> GlobalBatch::Set(Coordinate at, Bytes bytes) {
  // Shared: contents have one owner type for all three ways to set them.
  const auto owner = std::make_shared<const Bytes>(std::move(bytes));
  return SetReference(at, *owner, owner);
}

Result<void> GlobalBatch::SetCopy(Coordinate at, ByteView bytes) {
  Content& content = *BW_TRY(Claim(at));
  // Shared: see Set. Not a vector, which would write zeros first.
  const std::shared_ptr<std::byte[]> owner = std::make_shared_for_overwrite<std::byte[]>(bytes.size());
  content.hash = CopyAndHash64(bytes, {owner.get(), bytes.size()});
  content.hashed = true;
  content.bytes = {owner.get(), bytes.size()};
  content.owner = owner;
  size_bytes_ += bytes.size();
  return {};
}

Result<void> GlobalBatch::SetReference(Coordinate at, ByteView bytes, std::shared_ptr<const void> owner) {
  Content& content = *BW_TRY(Claim(at));
  content.bytes = bytes;
  content.owner = std::move(owner);
  size_bytes_ += bytes.size();
  return {};
}

Result<GlobalBatch::Content*> GlobalBatch::Claim(Coordinate at) {
  if (at.dp >= grid_.dp || at.cp >= grid_.cp || contents_.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("a slice outside the grid: dp={} cp={} grid={}x{}", at.dp, at.cp, grid_.dp, grid_.cp)};
  }
  Content& content = contents_[uint64_t{at.cp} * grid_.dp + at.dp];
  if (content.set) {
    return Error{ErrorCode::kInvalidArgument, fmt::format("a slice was set twice: dp={} cp={}", at.dp, at.cp)};
  }
  content.set = true;
  return &content;
}

Result<void> GlobalBatch::CheckComplete() const {
  BW_TRY(CheckBatchShape(grid_, options_));
  for (size_t i = 0; i < contents_.size(); ++i) {
    if (contents_[i].set) continue;
    return Error{ErrorCode::kInvalidArgument, fmt::format("a slice is missing: dp={} cp={} grid={}x{}", i % grid_.dp,
                                                          i / grid_.dp, grid_.dp, grid_.cp)};
  }
  return {};
}

}  // namespace batchweave
