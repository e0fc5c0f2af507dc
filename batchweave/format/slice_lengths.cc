#include "batchweave/format/slice_lengths.h"

#include <fmt/format.h>

namespace batchweave {
namespace {

constexpr unsigned kGroupBits = 7;
constexpr uint8_t kMoreFollow = 0x80;

// Differences wrap around in 64 bits, in both directions alike: every length has one.
uint64_t Zigzag(uint64_t difference) { return (difference << 1) ^ (0 - (difference >> 63)); }
uint64_t Unzigzag(uint64_t zigzag) { return (zigzag >> 1) ^ (0 - (zigzag & 1)); }

Result<uint64_t> TakeVarint(std::span<const uint8_t>& encoded) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += kGroupBits) {
    if (encoded.empty()) return Error{ErrorCode::kCorrupt, "slice lengths end too early"};
    const uint8_t group = encoded.front();
    encoded = encoded.subspan(1);
    const uint64_t bits = group & ~kMoreFollow;
    if ((bits << shift) >> shift != bits) break;
    value |= bits << shift;
    if ((group & kMoreFollow) == 0) return value;
  }
  return Error{ErrorCode::kCorrupt, "a slice length exceeds 64 bits"};
}

}  // namespace

void AppendSliceLengths(std::span<const uint64_t> lengths, std::vector<uint8_t>& to) {
  uint64_t before = 0;
  for (const uint64_t length : lengths) {
    uint64_t rest = Zigzag(length - before);
    for (; rest >= kMoreFollow; rest >>= kGroupBits) to.push_back(static_cast<uint8_t>(rest) | kMoreFollow);
    to.push_back(static_cast<uint8_t>(rest));
    before = length;
  }
}

size_t SliceLengthsBytes(std::span<const uint64_t> lengths) {
  size_t size_bytes = 0;
  uint64_t before = 0;
  for (const uint64_t length : lengths) {
    for (uint64_t rest = Zigzag(length - before); rest >= kMoreFollow; rest >>= kGroupBits) ++size_bytes;
    ++size_bytes;
    before = length;
  }
  return size_bytes;
}

Result<std::vector<uint64_t>> TakeSliceLengths(std::span<const uint8_t>& encoded, uint64_t count) {
  // Each takes a byte at least, so that a hostile count allocates nothing.
  if (count > encoded.size()) {
    return Error{ErrorCode::kCorrupt, fmt::format("too few slice lengths: slices={} bytes={}", count, encoded.size())};
  }
  std::vector<uint64_t> lengths;
  lengths.reserve(count);
  uint64_t length = 0;
  for (uint64_t i = 0; i < count; ++i) {
    length += Unzigzag(BW_TRY(TakeVarint(encoded)));
    lengths.push_back(length);
  }
  return lengths;
}

}  // namespace batchweave
