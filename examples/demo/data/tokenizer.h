// Text to tokens and back, by SentencePiece (github.com/google/sentencepiece), without loss.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace batchweave::demo {

// Pieces of the vocabulary are below these, which stand in a sequence for what is not text.
inline constexpr uint16_t kVocabularyMax = 0xFFF0;
inline constexpr uint16_t kPadToken = 0xFFFE;    // Nothing: the end of a producer's last batch.
inline constexpr uint16_t kPatchToken = 0xFFFF;  // A patch of an image, whose pixels lie beside the tokens.

// Safe for concurrent use.
class Tokenizer {
 public:
  // Errors: kCorrupt (not a SentencePiece model, or one with more than kVocabularyMax pieces).
  static Result<Tokenizer> Load(ByteView model);
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  // Errors: kCorrupt (`text` is not UTF-8, or the model has no piece for it).
  Result<std::vector<uint16_t>> Encode(std::string_view text) const;

  // The text that Encode was given, but for U+2581, by which SentencePiece marks a space: it comes back as one.
  // Errors: kInvalidArgument (a token that is no piece).
  Result<std::string> Decode(const std::vector<uint16_t>& tokens) const;

  // The piece that ends a sample.
  uint16_t end_token() const;

 private:
  explicit Tokenizer(std::unique_ptr<sentencepiece::SentencePieceProcessor> processor);

  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor_;
};

}  // namespace batchweave::demo
