// What the ranks compute from what they read: numbers that come out the same whichever rank read which slice, and in
// which order. If one slice was lost, altered or read twice, they differ.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "examples/demo/data/slice.h"
#include "examples/demo/data/wire.h"

namespace batchweave::demo {

// Sums over the values 0 to 255 of one channel.
struct Moments {
  uint64_t count = 0;
  uint64_t sum = 0;
  uint64_t sum_of_squares = 0;
  friend bool operator==(const Moments&, const Moments&) = default;
};

double MeanOf(const Moments& moments);       // 0 where there are no values.
double DeviationOf(const Moments& moments);  // The standard deviation; 0 where there are no values.

// Integers only, and only sums of what each slice gives: Fold and Merge may be called in any order.
class Statistic {
 public:
  // Pairs of neighbouring tokens are counted in this many classes, by a hash.
  static constexpr uint32_t kPairClasses = 1 << 14;

  Statistic() : pairs_(kPairClasses) {}

  // Adds one slice: its text tokens, each pair of neighbours within one span (so never across a cut, whatever rank
  // holds the other side), and the pixels of its patches.
  void Fold(const Slice& slice);
  void Merge(const Statistic& other);

  uint64_t text_tokens() const { return text_tokens_; }
  uint64_t patches() const { return patches_; }
  // Red, green, blue, alpha. Alpha counts only where an image has it.
  const std::array<Moments, 4>& channels() const { return channels_; }
  // A short name of all the numbers together, equal for equal statistics: for people to compare.
  uint64_t Digest() const;

  void EncodeTo(Writer& writer) const;
  // Errors: kCorrupt.
  static Result<Statistic> DecodeFrom(Reader& reader);

  friend bool operator==(const Statistic&, const Statistic&) = default;

 private:
  void FoldPatch(const Patch& patch);

  uint64_t text_tokens_ = 0;
  uint64_t patches_ = 0;
  std::array<Moments, 4> channels_;
  std::vector<uint64_t> pairs_;
};

}  // namespace batchweave::demo
