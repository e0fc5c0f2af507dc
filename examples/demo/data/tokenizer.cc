#include "examples/demo/data/tokenizer.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <utility>

namespace batchweave::demo {

Tokenizer::Tokenizer(std::unique_ptr<sentencepiece::SentencePieceProcessor> processor)
    : processor_(std::move(processor)) {}
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

Result<Tokenizer> Tokenizer::Load(ByteView model) {
  auto processor = std::make_unique<sentencepiece::SentencePieceProcessor>();
  const auto status = processor->LoadFromSerializedProto(AsText(model));
  if (!status.ok()) return Error{ErrorCode::kCorrupt, fmt::format("not a tokenizer model: {}", status.ToString())};
  const int pieces = processor->GetPieceSize();
  if (pieces > kVocabularyMax || processor->eos_id() < 0) {
    return Error{ErrorCode::kCorrupt, fmt::format("vocabulary is too large, or without an end: pieces={}", pieces)};
  }
  return Tokenizer(std::move(processor));
}

Result<std::vector<uint16_t>> Tokenizer::Encode(std::string_view text) const {
  std::vector<int> ids;
  const auto status = processor_->Encode(text, &ids);
  if (!status.ok()) return Error{ErrorCode::kCorrupt, fmt::format("cannot tokenize: {}", status.ToString())};
  if (std::ranges::find(ids, processor_->unk_id()) != ids.end()) {
    return Error{ErrorCode::kCorrupt, "cannot tokenize: text beyond the model's pieces"};
  }
  return std::vector<uint16_t>(ids.begin(), ids.end());
}

Result<std::string> Tokenizer::Decode(const std::vector<uint16_t>& tokens) const {
  const std::vector<int> ids(tokens.begin(), tokens.end());
  std::string text;
  const auto status = processor_->Decode(ids, &text);
  if (!status.ok()) return Error{ErrorCode::kInvalidArgument, fmt::format("no such token: {}", status.ToString())};
  return text;
}

uint16_t Tokenizer::end_token() const { return static_cast<uint16_t>(processor_->eos_id()); }

}  // namespace batchweave::demo
