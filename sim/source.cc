#include "sim/source.h"

#include <fmt/format.h>

#include <charconv>

#include "batchweave/base/check.h"
#include "batchweave/base/hash.h"

namespace batchweave::sim {

Bytes SliceOf(std::string_view producer, uint64_t number, Coordinate at) {
  std::string text = fmt::format("{}/{}/{},{};", producer, number, at.dp, at.cp);
  const uint64_t hash = Hash64(AsBytes(text));
  if (hash % 16 == 0) return {};
  text.append(hash % 150, static_cast<char>('a' + hash % 26));
  return ToBytes(text);
}

GlobalBatch BatchOf(std::string_view producer, uint64_t number, Grid grid) {
  return PartOf(producer, number, WholeOf(grid));
}

GlobalBatch PartOf(std::string_view producer, uint64_t number, GridRange range) {
  GlobalBatch batch({.dp = range.dp_count, .cp = range.cp_count});
  for (uint32_t cp = 0; cp < range.cp_count; ++cp) {
    for (uint32_t dp = 0; dp < range.dp_count; ++dp) {
      const Coordinate in_grid{.dp = range.dp_begin + dp, .cp = range.cp_begin + cp};
      BW_CHECK(batch.Set({.dp = dp, .cp = cp}, SliceOf(producer, number, in_grid)).ok());
    }
  }
  return batch;
}

Bytes CursorOf(uint64_t number, size_t bytes) {
  std::string text = fmt::format("{}.", number);
  if (text.size() < bytes) text.append(bytes - text.size(), '.');
  return ToBytes(text);
}

std::optional<uint64_t> NumberOf(ByteView cursor) {
  if (cursor.empty()) return 0;
  const std::string_view text = AsText(cursor);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data() + text.size() || *end != '.') return std::nullopt;
  return number;
}

}  // namespace batchweave::sim
