// A sample ready for packing: a row of positions, of which each holds one token.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"
#include "examples/demo/data/corpus.h"
#include "examples/demo/data/patch.h"
#include "examples/demo/data/tokenizer.h"

namespace batchweave::demo {

// Positions: a kPatchToken for each patch of the image, then the pieces of the text, then the end token. So there is
// always at least one, and position i holds patch i as far as there are patches.
struct Sample {
  std::string id;
  std::vector<uint16_t> tokens;
  Patches patches;

  uint32_t length() const { return static_cast<uint32_t>(tokens.size()); }

  // The encoded patches at positions [begin, end).
  ByteView PatchBytes(uint32_t begin, uint32_t end) const;
};

// Errors: as Tokenizer::Encode.
Result<Sample> MakeSample(std::string id, const Document& document, const Tokenizer& tokenizer);

}  // namespace batchweave::demo
