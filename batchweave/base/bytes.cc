#include "batchweave/base/bytes.h"

#include <fmt/format.h>

#include <array>

namespace batchweave {

std::string ToHex(ByteView bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte b : bytes) {
    text.push_back(kDigits[std::to_integer<size_t>(b >> 4)]);
    text.push_back(kDigits[std::to_integer<size_t>(b & std::byte{15})]);
  }
  return text;
}

Bytes Join(std::span<const ByteView> pieces) {
  Bytes joined;
  joined.reserve(TotalSize(pieces));
  for (const ByteView piece : pieces) joined.insert(joined.end(), piece.begin(), piece.end());
  return joined;
}

uint64_t TotalSize(std::span<const ByteView> pieces) {
  uint64_t size_bytes = 0;
  for (const ByteView piece : pieces) size_bytes += piece.size();
  return size_bytes;
}

std::string HumanSize(uint64_t size_bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (size_bytes == 1) return "1 byte";
  if (size_bytes < 1024) return fmt::format("{} bytes", size_bytes);
  double size = static_cast<double>(size_bytes) / 1024;
  size_t unit = 0;
  // From 1023.95 on, one decimal would say 1024.0.
  for (; size >= 1023.95 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

}  // namespace batchweave
