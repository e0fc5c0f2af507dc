// The one door through which FlatBuffers are read: nothing in a block is touched before it was verified.
#pragma once

#include <cstdint>
#include <string_view>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"

namespace flatbuffers {
template <typename T>
class Vector;
}  // namespace flatbuffers

namespace batchweave {

// The root of `block`, which must be aligned (AlignedBlock) and outlive it. For the root tables of our schemas.
// Errors: kCorrupt; `what` begins the message.
template <typename Table>
Result<const Table*> VerifiedRoot(ByteView block, std::string_view what);

// A table's own first word, and the one that points at it: a block has no more tables than it has room for, so that a small
// one does not unfold.
inline constexpr size_t kBytesATableMin = 8;

// The table that the `i`-th of `offsets`, which must be there, leads to; they are in `block`, whose root was verified with
// them as numbers. There may be more of them than the block has room for: that is for who asks for many to look at.
template <typename Table>
Result<const Table*> VerifiedElement(ByteView block, const flatbuffers::Vector<uint32_t>& offsets, uint32_t i,
                                     std::string_view what);

// The verifier of FlatBuffers 2 does not look where the structs of a vector begin: true where those that begin at `first`
// may be read. To be asked of every vector of structs.
inline bool AreStructsAligned(const uint8_t* first) {
  constexpr uintptr_t kStructAlignment = 8;
  return reinterpret_cast<uintptr_t>(first) % kStructAlignment == 0;
}

// FlatBuffers may point at the same bytes many times over, so that a small block could unfold to gigabytes. What is
// copied out of a block is counted against the block's own size; strings that our writer shares are not counted.
class CopyBudget {
 public:
  explicit CopyBudget(ByteView block) : left_bytes_(block.size()) {}

  // False where it is used up: the block is corrupt.
  bool Take(uint64_t size_bytes) {
    if (size_bytes > left_bytes_) return false;
    left_bytes_ -= size_bytes;
    return true;
  }

 private:
  uint64_t left_bytes_;
};

}  // namespace batchweave
