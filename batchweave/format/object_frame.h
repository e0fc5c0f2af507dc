// What every metadata object and message begins with: 64 bytes that say what it is and how long its one or two blocks are, so that
// nothing else is looked at before it is known to be whole. docs/format.md, "The frame".
#pragma once

#include <cstdint>
#include <string_view>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"

namespace batchweave {

inline constexpr size_t kFrameBytes = 64;

enum class ObjectKind : uint8_t {
  kManifest,
  kTombstone,
  kArchivedEntries,
  kArchiveIndex,
  kArchivedRows,
  kPartTicket,
  kPartReceipt,
  kBatchIntent,
  kOpeningIntent,
};

// "manifest", "tombstone", ...
std::string_view ObjectKindName(ObjectKind kind);

struct ObjectFrame {
  ObjectKind kind;
  uint64_t first_bytes = 0;   // The block that begins right after the frame.
  uint64_t second_bytes = 0;  // The block after it: only a manifest has one.
  uint64_t first_hash = 0;    // Hash64 of the first block.

  uint64_t first_end() const { return kFrameBytes + first_bytes; }
  uint64_t object_end() const { return first_end() + second_bytes; }
};

// The object: a frame, `first`, and `second` where it has one.
Bytes EncodeFramed(ObjectKind kind, ByteView first, ByteView second = {});

// From the first kFrameBytes of an object, or more.
// Errors: kCorrupt (too short, none of our objects, checksum), kIncompatible (a newer format).
Result<ObjectFrame> DecodeFrame(ByteView prefix);

// The first block of an object of kind `kind`, from at least so many first bytes of it, its checksum verified.
// Errors: as DecodeFrame; kCorrupt where the object is of another kind.
Result<ByteView> DecodeFirstBlock(ObjectKind kind, ByteView prefix);

// The same from the whole of an object of one block: nothing may follow it. Errors: as DecodeFirstBlock.
Result<ByteView> DecodeWholeBlock(ObjectKind kind, ByteView object);

// A block at an address that FlatBuffers may read from: a copy where the bytes given lie unaligned, else those.
class AlignedBlock {
 public:
  // `bytes` must outlive the block.
  explicit AlignedBlock(ByteView bytes);
  AlignedBlock(const AlignedBlock&) = delete;
  AlignedBlock& operator=(const AlignedBlock&) = delete;

  ByteView view() const { return view_; }

 private:
  Bytes copy_;
  ByteView view_;
};

}  // namespace batchweave
