#include "batchweave/consumer/slice_verifier.h"

#include <algorithm>

#include "batchweave/base/check.h"

namespace batchweave {

SliceVerifier::SliceVerifier(const TgbIdentity& identity, std::span<const PlannedSlice> slices)
    : identity_(identity), slices_(slices) {
  hashes_.reserve(slices.size());
}

void SliceVerifier::OnRestart() {
  position_ = 0;
  hashes_.clear();
  hasher_.Reset();
}

void SliceVerifier::OnBytes(ByteView piece) {
  while (!piece.empty() && hashes_.size() < slices_.size()) {
    const PlannedSlice& slice = slices_[hashes_.size()];
    const uint64_t begin = slice.offset - slices_.front().offset;
    if (position_ < begin) {  // A trailer, or padding.
      const uint64_t skipped = std::min<uint64_t>(begin - position_, piece.size());
      position_ += skipped;
      piece = piece.subspan(skipped);
      continue;
    }
    const uint64_t end = begin + slice.size_bytes;
    const ByteView content = piece.first(std::min<uint64_t>(end - position_, piece.size()));
    const bool whole = content.size() == slice.size_bytes;
    if (!whole) hasher_.Update(content);
    position_ += content.size();
    piece = piece.subspan(content.size());
    if (position_ < end) return;
    hashes_.push_back(whole ? Hash64(content) : hasher_.Digest());
    if (!whole) hasher_.Reset();
  }
  position_ += piece.size();
}

std::optional<SliceVerifier::Mismatch> SliceVerifier::Check(ByteView received) {
  // What the store did not report is looked at now: a slice is never taken as verified because nobody looked.
  if (position_ < received.size()) OnBytes(received.subspan(position_));
  for (size_t i = 0; i < slices_.size(); ++i) {
    const PlannedSlice& slice = slices_[i];
    const uint64_t end = slice.offset - slices_.front().offset + slice.size_bytes;
    BW_CHECK(end + kTrailerBytes <= received.size() && i < hashes_.size());
    const uint64_t found = LoadTrailer(received.subspan(end).first<kTrailerBytes>());
    const uint64_t expected = SliceTrailer(identity_, slice.at, slice.size_bytes, hashes_[i]);
    if (found != expected) return Mismatch{.at = slice.at, .expected = expected, .found = found};
  }
  return std::nullopt;
}

}  // namespace batchweave
