// The batch of one training step for every rank, before it is published: a grid of slices, each set once.
// Move-only; not safe for concurrent use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"
#include "batchweave/format/grid.h"

namespace batchweave {

struct BatchOptions {
  std::string content_type = "application/octet-stream";  // A MIME type: printable, at most kContentTypeBytesMax.
  uint64_t schema_hash = 0;                               // Of the codec's schema; 0: none.
};

// Errors: kInvalidArgument (the grid is zero or too large, or a limit of `options` is passed).
Result<void> CheckBatchShape(Grid grid, const BatchOptions& options);

class GlobalBatch {
 public:
  explicit GlobalBatch(Grid grid, BatchOptions options = {});

  // Each slice is set exactly once, in any order, by one of three ways to hand over its bytes (0 bytes are a slice).
  // Errors: kInvalidArgument (outside the grid, or set before).
  Result<void> Set(Coordinate at, Bytes bytes);  // Moved in.
  // Copied and hashed; nobody may change them meanwhile, or the batch is corrupt.
  Result<void> SetCopy(Coordinate at, ByteView bytes);
  // Referenced: `owner` keeps the bytes alive and unchanged until it is destroyed.
  // Shared: the batch is one of several holders of a buffer that may serve other slices too.
  Result<void> SetReference(Coordinate at, ByteView bytes, std::shared_ptr<const void> owner);

  Grid grid() const { return grid_; }
  const BatchOptions& options() const { return options_; }
  uint64_t size_bytes() const { return size_bytes_; }

  // One slice, as set.
  struct Content {
    ByteView bytes{};
    uint64_t hash = 0;  // Hash64 of the bytes, where `hashed`.
    bool hashed = false;
    bool set = false;
    std::shared_ptr<const void> owner{};  // Shared: see SetReference.
  };
  // In layout order: cp outermost, dp innermost.
  const std::vector<Content>& contents() const { return contents_; }

  // Errors: those of CheckBatchShape, and kInvalidArgument where a slice is missing: the first of them is named.
  Result<void> CheckComplete() const;

 private:
  Result<Content*> Claim(Coordinate at);

  Grid grid_;
  BatchOptions options_;
  std::vector<Content> contents_;
  uint64_t size_bytes_ = 0;
};

}  // namespace batchweave
