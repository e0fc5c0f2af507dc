#include "examples/demo/data/tokenizer_training.h"

#include <fmt/format.h>
#include <sentencepiece_trainer.h>

#include <unordered_map>
#include <utility>
#include <vector>

#include "examples/demo/data/files.h"

namespace batchweave::demo {
namespace {

// Hands lines to the trainer.
class LineIterator final : public sentencepiece::SentenceIterator {
 public:
  explicit LineIterator(std::vector<std::string> lines) : lines_(std::move(lines)) {}
  bool done() const override { return next_ >= lines_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return lines_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string> lines_;
  size_t next_ = 0;
};

void AppendLines(std::string_view text, std::vector<std::string>& lines) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

Result<std::vector<std::string>> TrainingLines(const Corpus& corpus, uint64_t text_bytes_max) {
  std::vector<std::string> lines;
  uint64_t text_bytes = 0;
  for (const SampleRef& ref : corpus.samples()) {
    if (text_bytes >= text_bytes_max) break;
    const Document document = BW_TRY(corpus.Read(ref));
    text_bytes += document.text.size();
    AppendLines(document.text, lines);
  }
  return lines;
}

}  // namespace

Result<Bytes> TrainTokenizer(const Corpus& corpus, const TrainingOptions& options) {
  LineIterator lines(BW_TRY(TrainingLines(corpus, options.text_bytes_max)));
  const std::unordered_map<std::string, std::string> settings = {
      {"model_type", "bpe"},
      {"vocab_size", fmt::format("{}", options.vocabulary)},
      {"hard_vocab_limit", "false"},
      {"num_threads", "1"},
      {"minloglevel", "2"},  // Errors only.
      // What makes it without loss:
      {"byte_fallback", "true"},
      {"normalization_rule_name", "identity"},
      {"remove_extra_whitespaces", "false"},
      {"add_dummy_prefix", "false"},
      {"allow_whitespace_only_pieces", "true"},
  };
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &lines, &model);
  if (!status.ok()) {
    return Error{ErrorCode::kInvalidArgument, fmt::format("cannot train the tokenizer: {}", status.ToString())};
  }
  return ToBytes(model);
}

std::string TokenizerPath(const std::string& directory, const Corpus& corpus) {
  return fmt::format("{}/tokenizer-{:016x}.model", directory, corpus.fingerprint());
}

Result<Tokenizer> LoadOrTrainTokenizer(const Corpus& corpus, const std::string& path) {
  const Result<Bytes> cached = ReadFile(path);
  if (!cached.ok() && cached.error().code != ErrorCode::kNotFound) return cached.error();
  if (cached.ok()) {
    Result<Tokenizer> tokenizer = Tokenizer::Load(*cached);
    if (tokenizer.ok()) return tokenizer;
  }
  const Bytes model = BW_TRY(TrainTokenizer(corpus, TrainingOptions{}));
  BW_TRY(ReplaceFile(path, model));
  return Tokenizer::Load(model);
}

}  // namespace batchweave::demo
