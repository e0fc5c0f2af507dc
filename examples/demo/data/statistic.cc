#include "examples/demo/data/statistic.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "batchweave/base/hash.h"

namespace batchweave::demo {
namespace {

// The upper bits of a product are well mixed (Fibonacci hashing).
uint32_t ClassOf(uint16_t first, uint16_t second) {
  const uint32_t pair = uint32_t{first} << 16 | second;
  static_assert(Statistic::kPairClasses == 1 << 14);
  return pair * 0x9E3779B1u >> (32 - 14);
}

}  // namespace

double MeanOf(const Moments& moments) {
  return moments.count == 0 ? 0 : static_cast<double>(moments.sum) / static_cast<double>(moments.count);
}

double DeviationOf(const Moments& moments) {
  if (moments.count == 0) return 0;
  const double mean = MeanOf(moments);
  const double mean_square = static_cast<double>(moments.sum_of_squares) / static_cast<double>(moments.count);
  return std::sqrt(std::max(0.0, mean_square - mean * mean));
}

void Statistic::Fold(const Slice& slice) {
  for (const SampleSpan& span : slice.spans) {
    const uint32_t end = span.at + (span.end - span.begin);
    for (uint32_t i = span.at; i < end; ++i) {
      if (slice.tokens[i] == kPatchToken) continue;
      ++text_tokens_;
      if (i + 1 < end) ++pairs_[ClassOf(slice.tokens[i], slice.tokens[i + 1])];
    }
  }
  for (const Patch& patch : slice.patches) FoldPatch(patch);
}

void Statistic::FoldPatch(const Patch& patch) {
  ++patches_;
  for (uint32_t channel = 0; channel < patch.channels; ++channel) {
    Moments& moments = channels_[channel];
    for (size_t i = channel; i < patch.pixels.size(); i += patch.channels) {
      const auto value = std::to_integer<uint64_t>(patch.pixels[i]);
      moments.sum += value;
      moments.sum_of_squares += value * value;
    }
    moments.count += patch.pixels.size() / patch.channels;
  }
}

void Statistic::Merge(const Statistic& other) {
  text_tokens_ += other.text_tokens_;
  patches_ += other.patches_;
  for (size_t i = 0; i < channels_.size(); ++i) {
    channels_[i].count += other.channels_[i].count;
    channels_[i].sum += other.channels_[i].sum;
    channels_[i].sum_of_squares += other.channels_[i].sum_of_squares;
  }
  for (size_t i = 0; i < pairs_.size(); ++i) pairs_[i] += other.pairs_[i];
}

uint64_t Statistic::Digest() const {
  Writer writer;
  EncodeTo(writer);
  return Hash64(writer.bytes());
}

void Statistic::EncodeTo(Writer& writer) const {
  writer.PutU64(text_tokens_);
  writer.PutU64(patches_);
  for (const Moments& moments : channels_) {
    writer.PutU64(moments.count);
    writer.PutU64(moments.sum);
    writer.PutU64(moments.sum_of_squares);
  }
  for (const uint64_t count : pairs_) writer.PutU64(count);
}

Result<Statistic> Statistic::DecodeFrom(Reader& reader) {
  Statistic statistic;
  statistic.text_tokens_ = BW_TRY(reader.TakeU64());
  statistic.patches_ = BW_TRY(reader.TakeU64());
  for (Moments& moments : statistic.channels_) {
    moments.count = BW_TRY(reader.TakeU64());
    moments.sum = BW_TRY(reader.TakeU64());
    moments.sum_of_squares = BW_TRY(reader.TakeU64());
  }
  for (uint64_t& count : statistic.pairs_) count = BW_TRY(reader.TakeU64());
  return statistic;
}

}  // namespace batchweave::demo
