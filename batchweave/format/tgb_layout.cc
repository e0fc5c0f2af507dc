#include <fmt/format.h>

#include <array>
#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/format/little_endian.h"
#include "batchweave/format/tgb.h"

namespace batchweave {
namespace {

// Far beyond any object, and small enough that no sum of two offsets overflows.
constexpr uint64_t kOffsetMax = uint64_t{1} << 62;

// A slice with its trailer and the padding before the next.
uint64_t Stride(uint64_t slice_bytes) {
  return (slice_bytes + kTrailerBytes + kSliceAlignment - 1) / kSliceAlignment * kSliceAlignment;
}

}  // namespace

uint64_t SliceTrailer(const TgbIdentity& identity, Coordinate coordinate, uint64_t size_bytes, uint64_t content_hash) {
  std::array<std::byte, 64> bound;
  StoreLittleEndian(content_hash, bound, 0);
  StoreLittleEndian(size_bytes, bound, 8);
  StoreLittleEndian(identity.stream_id.bits.high, bound, 16);
  StoreLittleEndian(identity.stream_id.bits.low, bound, 24);
  StoreLittleEndian(Hash64(AsBytes(identity.producer)), bound, 32);
  StoreLittleEndian(identity.incarnation.value, bound, 40);
  StoreLittleEndian(identity.seq, bound, 48);
  StoreLittleEndian(coordinate.dp, bound, 56);
  StoreLittleEndian(coordinate.cp, bound, 60);
  return Hash64(bound);
}

void StoreTrailer(uint64_t trailer, std::span<std::byte, kTrailerBytes> to) { StoreLittleEndian(trailer, to, 0); }

uint64_t LoadTrailer(std::span<const std::byte, kTrailerBytes> from) { return LoadLittleEndian<uint64_t>(from, 0); }

Hash128 DigestOfTrailers(std::span<const uint64_t> trailers) { return HashOf128(std::as_bytes(trailers)); }

Result<uint64_t> PartLayout::PayloadEnd(GridRange range, std::span<const uint64_t> slice_bytes) {
  const uint64_t slices = range.slices();
  if (slices == 0 || slices > kGridSlicesMax) {
    return Error{ErrorCode::kCorrupt, fmt::format("a part of no or too many slices: slices={}", slices)};
  }
  if (slice_bytes.size() != 1 && slice_bytes.size() != slices) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("slice lengths do not fit the part: slices={} lengths={}", slices, slice_bytes.size())};
  }
  uint64_t end = 0;
  for (const uint64_t size_bytes : slice_bytes) {
    if (size_bytes > kOffsetMax / slices) {
      return Error{ErrorCode::kCorrupt, fmt::format("a slice is longer than an object can be: bytes={}", size_bytes)};
    }
    end += Stride(size_bytes);
  }
  return slice_bytes.size() == 1 ? end * slices : end;
}

Result<PartLayout> PartLayout::Make(GridRange range, std::vector<uint64_t> slice_bytes) {
  BW_TRY(PayloadEnd(range, slice_bytes));
  std::vector<uint64_t> offsets;
  if (slice_bytes.size() > 1) {
    offsets.reserve(slice_bytes.size() + 1);
    offsets.push_back(0);
    for (const uint64_t size_bytes : slice_bytes) offsets.push_back(offsets.back() + Stride(size_bytes));
  }
  return PartLayout(range, std::move(slice_bytes), std::move(offsets));
}

PartLayout::PartLayout(GridRange range, std::vector<uint64_t> slice_bytes, std::vector<uint64_t> offsets)
    : range_(range), slice_bytes_(std::move(slice_bytes)), offsets_(std::move(offsets)) {}

size_t PartLayout::IndexOf(Coordinate at) const {
  // Below the range's beginning the differences wrap around and are too large.
  const uint32_t dp = at.dp - range_.dp_begin;
  const uint32_t cp = at.cp - range_.cp_begin;
  BW_CHECK(dp < range_.dp_count && cp < range_.cp_count);
  return size_t{cp} * range_.dp_count + dp;
}

uint64_t PartLayout::SliceBytes(Coordinate at) const {
  const size_t index = IndexOf(at);
  return offsets_.empty() ? slice_bytes_.front() : slice_bytes_[index];
}

uint64_t PartLayout::SliceOffset(Coordinate at) const {
  const size_t index = IndexOf(at);
  return offsets_.empty() ? index * Stride(slice_bytes_.front()) : offsets_[index];
}

uint64_t PartLayout::payload_end() const {
  return offsets_.empty() ? range_.slices() * Stride(slice_bytes_.front()) : offsets_.back();
}

}  // namespace batchweave
