// The bytes of one slice: what one rank gets of one sequence, told in a way that an auditor can read without anything
// else at hand.
//
// A sequence is one row of the grid (its dp coordinate), cut along its length in as many slices as the grid has cp.
// Numbers are little-endian:
//
//   offset  0   8 bytes            "BWDEMO01"
//           8   U32                P, positions
//          12   U32                bytes of the span table
//          16   U32                bytes of the patches
//          20   U32                0
//          24   P x U16            the token at each position; kPatchToken for a patch, kPadToken for none
//               span table         U32 at, begin, end, length; U16 size of id, id: for each sample here, in order
//               patches            encoded as patch.h says, one for each kPatchToken, in order
//
// A span says: positions [begin, end) of the sample `id`, which has `length` in all, lie here from `at` on. So a sample
// arrived exactly once if its spans, over all slices, tile [0, length). Positions outside of all spans are padding.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"
#include "examples/demo/data/patch.h"
#include "examples/demo/data/sample.h"

namespace batchweave::demo {

struct SampleSpan {
  std::string id;
  uint32_t at = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t length = 0;
  friend bool operator==(const SampleSpan&, const SampleSpan&) = default;
};

struct Slice {
  std::vector<uint16_t> tokens;
  std::vector<SampleSpan> spans;
  std::vector<Patch> patches;  // Their pixels lie in the bytes that were decoded.
};

// `bytes` must outlive the slice. Errors: kCorrupt. Trusts no byte: in what it returns spans do not overlap and lie
// inside the slice and inside their samples, padding is exactly what they leave, and patches match their tokens.
Result<Slice> DecodeSlice(ByteView bytes);

// Fills one slice from its beginning.
class SliceBuilder {
 public:
  explicit SliceBuilder(uint32_t positions) : positions_(positions) {}

  uint32_t free() const { return positions_ - static_cast<uint32_t>(tokens_.size()); }

  // Adds what fits of `sample` from its position `begin` on; returns the position after the last that did.
  uint32_t Append(const Sample& sample, uint32_t begin);

  // Pads the rest and encodes. The builder is then empty, for the next slice.
  Bytes Finish();

 private:
  const uint32_t positions_;
  std::vector<uint16_t> tokens_;
  std::vector<SampleSpan> spans_;
  Bytes patches_;
};

}  // namespace batchweave::demo
