#include "examples/demo/data/slice.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "batchweave/base/check.h"
#include "examples/demo/data/wire.h"

namespace batchweave::demo {
namespace {

// Tokens are copied as they lie in memory.
static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "BWDEMO01";

Error Corrupt(std::string message) { return Error{ErrorCode::kCorrupt, std::move(message)}; }

Result<std::vector<SampleSpan>> DecodeSpans(ByteView bytes) {
  Reader reader(bytes);
  std::vector<SampleSpan> spans;
  while (!reader.empty()) {
    SampleSpan span;
    span.at = BW_TRY(reader.TakeU32());
    span.begin = BW_TRY(reader.TakeU32());
    span.end = BW_TRY(reader.TakeU32());
    span.length = BW_TRY(reader.TakeU32());
    span.id = BW_TRY(reader.TakeText());
    spans.push_back(std::move(span));
  }
  return spans;
}

// Padding in all of tokens [begin, end).
bool IsPadding(const std::vector<uint16_t>& tokens, size_t begin, size_t end) {
  return std::all_of(tokens.begin() + static_cast<ptrdiff_t>(begin), tokens.begin() + static_cast<ptrdiff_t>(end),
                     [](uint16_t token) { return token == kPadToken; });
}

Result<void> CheckSpans(const Slice& slice) {
  size_t covered = 0;
  for (const SampleSpan& span : slice.spans) {
    const bool inside_sample = span.begin < span.end && span.end <= span.length;
    if (!inside_sample || span.at < covered || span.at > slice.tokens.size() ||
        span.end - span.begin > slice.tokens.size() - span.at) {
      return Corrupt(fmt::format("span out of place: sample={} at={} begin={} end={} length={}", span.id, span.at,
                                 span.begin, span.end, span.length));
    }
    if (!IsPadding(slice.tokens, covered, span.at)) return Corrupt("token of no sample");
    covered = span.at + (span.end - span.begin);
    const auto first = slice.tokens.begin() + span.at;
    if (std::find(first, first + (span.end - span.begin), kPadToken) != first + (span.end - span.begin)) {
      return Corrupt(fmt::format("padding inside a sample: sample={}", span.id));
    }
  }
  if (!IsPadding(slice.tokens, covered, slice.tokens.size())) return Corrupt("token of no sample");
  return {};
}

}  // namespace

Result<Slice> DecodeSlice(ByteView bytes) {
  Reader reader(bytes);
  const ByteView magic = BW_TRY(reader.TakeBytes(kMagic.size()));
  if (AsText(magic) != kMagic) return Corrupt("not a slice of the demo");
  const uint32_t positions = BW_TRY(reader.TakeU32());
  const uint32_t span_bytes = BW_TRY(reader.TakeU32());
  const uint32_t patch_bytes = BW_TRY(reader.TakeU32());
  const uint32_t reserved = BW_TRY(reader.TakeU32());
  const ByteView tokens = BW_TRY(reader.TakeBytes(uint64_t{positions} * sizeof(uint16_t)));
  Slice slice;
  const ByteView span_table = BW_TRY(reader.TakeBytes(span_bytes));
  slice.spans = BW_TRY(DecodeSpans(span_table));
  ByteView patches = BW_TRY(reader.TakeBytes(patch_bytes));
  if (!reader.empty() || reserved != 0) return Corrupt("slice is longer than it says");

  slice.tokens.resize(positions);
  if (positions > 0) std::memcpy(slice.tokens.data(), tokens.data(), tokens.size());
  BW_TRY(CheckSpans(slice));
  while (!patches.empty()) slice.patches.push_back(BW_TRY(TakePatch(patches)));
  const auto patch_tokens = std::ranges::count(slice.tokens, kPatchToken);
  if (static_cast<size_t>(patch_tokens) != slice.patches.size()) {
    return Corrupt(
        fmt::format("patches without their tokens: tokens={} patches={}", patch_tokens, slice.patches.size()));
  }
  return slice;
}

uint32_t SliceBuilder::Append(const Sample& sample, uint32_t begin) {
  BW_CHECK(begin < sample.length() && free() > 0);
  const uint32_t end = begin + std::min(free(), sample.length() - begin);
  spans_.push_back({.id = sample.id,
                    .at = static_cast<uint32_t>(tokens_.size()),
                    .begin = begin,
                    .end = end,
                    .length = sample.length()});
  tokens_.insert(tokens_.end(), sample.tokens.begin() + begin, sample.tokens.begin() + end);
  const ByteView patches = sample.PatchBytes(begin, end);
  patches_.insert(patches_.end(), patches.begin(), patches.end());
  return end;
}

Bytes SliceBuilder::Finish() {
  tokens_.resize(positions_, kPadToken);
  Writer table;
  for (const SampleSpan& span : spans_) {
    table.PutU32(span.at);
    table.PutU32(span.begin);
    table.PutU32(span.end);
    table.PutU32(span.length);
    table.PutText(span.id);
  }
  Writer slice;
  slice.PutBytes(AsBytes(kMagic));
  slice.PutU32(positions_);
  slice.PutU32(static_cast<uint32_t>(table.bytes().size()));
  slice.PutU32(static_cast<uint32_t>(patches_.size()));
  slice.PutU32(0);
  slice.PutBytes(std::as_bytes(std::span(tokens_)));
  slice.PutBytes(table.bytes());
  slice.PutBytes(patches_);
  tokens_.clear();
  spans_.clear();
  patches_.clear();
  return std::move(slice).Take();
}

}  // namespace batchweave::demo
