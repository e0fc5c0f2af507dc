#include "examples/demo/data/batch_source.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "examples/demo/data/slice.h"

namespace batchweave::demo {
namespace {

// A slice is refused by its reader beyond what U32 counts; this is far below and still a sequence of 16 million.
constexpr uint32_t kSequenceLengthMax = uint32_t{1} << 24;

Error NotACursor(std::string_view cursor) {
  return Error{ErrorCode::kInvalidArgument, fmt::format("not a cursor of this corpus and packing: cursor={}", cursor)};
}

// Takes a decimal number and nothing else off `text`.
template <typename T>
bool TakeNumber(std::string_view& text, T& number) {
  const auto [end, cause] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (cause != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

Result<void> CheckOptions(const PackingOptions& options) {
  if (options.part >= options.parts) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("no such part: part={} parts={}", options.part, options.parts)};
  }
  const uint64_t slices = options.grid.slices();
  if (slices == 0 || slices > kGridSlicesMax || options.sequence_length == 0 ||
      options.sequence_length > kSequenceLengthMax || options.sequence_length % options.grid.cp != 0) {
    return Error{ErrorCode::kInvalidArgument, fmt::format("sequences cannot be cut: dp={} cp={} length={}",
                                                          options.grid.dp, options.grid.cp, options.sequence_length)};
  }
  return {};
}

}  // namespace

BatchSource::BatchSource(const Corpus& corpus, const Tokenizer& tokenizer, PackingOptions options)
    : corpus_(&corpus), tokenizer_(&tokenizer), options_(options) {
  const std::vector<SampleRef>& all = corpus.samples();
  for (size_t i = options.part; i < all.size(); i += options.parts) samples_.push_back(&all[i]);
}

Result<BatchSource> BatchSource::From(const Corpus& corpus, const Tokenizer& tokenizer, PackingOptions options,
                                      std::string_view cursor) {
  BW_TRY(CheckOptions(options));
  BatchSource source(corpus, tokenizer, options);
  if (cursor.empty()) return source;
  const std::string prefix = source.CursorPrefix();
  if (!cursor.starts_with(prefix)) return NotACursor(cursor);
  std::string_view rest = cursor.substr(prefix.size());
  const bool is_sample = TakeNumber(rest, source.next_) && rest.starts_with('+');
  if (!is_sample) return NotACursor(cursor);
  rest.remove_prefix(1);
  if (!TakeNumber(rest, source.position_) || !rest.empty()) return NotACursor(cursor);
  if (source.next_ > source.samples_.size()) return NotACursor(cursor);
  if (source.position_ == 0) return source;
  if (source.next_ == source.samples_.size()) return NotACursor(cursor);
  BW_TRY(source.LoadCurrent());
  if (source.position_ >= source.current_->length()) return NotACursor(cursor);
  return source;
}

std::string BatchSource::CursorPrefix() const {
  return fmt::format("{:016x}/{}of{}/{}x{}x{}/", corpus_->fingerprint(), options_.part, options_.parts,
                     options_.grid.dp, options_.grid.cp, options_.sequence_length);
}

Result<void> BatchSource::LoadCurrent() {
  if (current_.has_value()) return {};
  const SampleRef& ref = *samples_[next_];
  const Document document = BW_TRY(corpus_->Read(ref));
  current_ = BW_TRY(MakeSample(IdOf(ref), document, *tokenizer_));
  return {};
}

Result<Bytes> BatchSource::PackSlice(PackedBatch& batch) {
  SliceBuilder slice(options_.sequence_length / options_.grid.cp);
  while (slice.free() > 0 && next_ < samples_.size()) {
    BW_TRY(LoadCurrent());
    position_ = slice.Append(*current_, position_);
    if (position_ < current_->length()) continue;
    current_.reset();
    position_ = 0;
    ++next_;
    ++batch.samples_ended;
  }
  return slice.Finish();
}

Result<std::optional<PackedBatch>> BatchSource::Next() {
  if (next_ == samples_.size()) return std::optional<PackedBatch>();
  PackedBatch batch;
  for (uint64_t i = 0; i < options_.grid.slices(); ++i) batch.slices.push_back(BW_TRY(PackSlice(batch)));
  batch.cursor = fmt::format("{}{}+{}", CursorPrefix(), next_, position_);
  return std::optional<PackedBatch>(std::move(batch));
}

double BatchSource::progress() const {
  return samples_.empty() ? 1 : static_cast<double>(next_) / static_cast<double>(samples_.size());
}

}  // namespace batchweave::demo
