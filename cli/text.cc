#include "cli/text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "batchweave/base/check.h"

namespace batchweave::cli {
namespace {

// Characters of UTF-8 text: bytes that do not continue one.
size_t CharactersOf(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

// The bytes of the well-formed printable character at the front of `text`; 0 where there is none.
size_t PrintableCharacter(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  uint32_t character = first & (0xffU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    character = character << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::array<uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = character >= 0xd800 && character <= 0xdfff;
  const bool is_control = character < 0xa0;
  return character < kSmallest[length] || character > 0x10ffff || is_surrogate || is_control ? 0 : length;
}

}  // namespace

std::string Grouped(uint64_t number) {
  constexpr uint64_t kGroup = 1000;
  std::string text = fmt::format("{}", number % kGroup);
  for (uint64_t left = number / kGroup; left > 0; left /= kGroup) {
    const size_t digits = text.find(',') == std::string::npos ? text.size() : text.find(',');
    text = fmt::format("{},{}{}", left % kGroup, std::string(3 - digits, '0'), text);
  }
  return text;
}

std::string Counted(uint64_t number, std::string_view what) {
  return fmt::format("{} {}{}", Grouped(number), what, number == 1 ? "" : "s");
}

std::string Ago(Duration age) {
  using std::chrono::duration_cast;
  const auto seconds = duration_cast<std::chrono::seconds>(age).count();
  constexpr int64_t kMinute = 60;
  constexpr int64_t kHour = 60 * kMinute;
  constexpr int64_t kDay = 24 * kHour;
  if (seconds < 1) return "just now";
  if (seconds < 2 * kMinute) return fmt::format("{} s ago", seconds);
  if (seconds < 2 * kHour) return fmt::format("{} min ago", seconds / kMinute);
  if (seconds < 2 * kDay) return fmt::format("{} h ago", seconds / kHour);
  return fmt::format("{} days ago", seconds / kDay);
}

std::string UtcTime(int64_t since_1970_ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(since_1970_ns / kSecond)));
}

std::string GridText(Grid grid) { return fmt::format("{} x {}", grid.dp, grid.cp); }

bool IsPrintableUtf8(ByteView bytes) {
  for (std::string_view text = AsText(bytes); !text.empty();) {
    const size_t length = PrintableCharacter(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string TextOrHex(ByteView bytes) {
  if (bytes.empty()) return "none";
  return IsPrintableUtf8(bytes) ? std::string(AsText(bytes)) : "0x" + ToHex(bytes);
}

std::string Shortened(std::string text, size_t characters_max) {
  if (CharactersOf(text) <= characters_max) return text;
  size_t end = 0;
  for (size_t characters = 0; end < text.size(); ++end) {
    if ((text[end] & 0xc0) == 0x80) continue;
    if (++characters > characters_max) break;
  }
  return text.substr(0, end) + "...";
}

Table::Table(const std::vector<std::string>& headings) {
  std::vector<std::string> cells;
  for (std::string_view heading : headings) {
    right_.push_back(heading.starts_with('>'));
    if (right_.back()) heading.remove_prefix(1);
    cells.emplace_back(heading);
  }
  rows_.push_back(std::move(cells));
}

void Table::AddRow(std::vector<std::string> cells) {
  BW_CHECK(cells.size() == right_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::Format(std::string_view indent) const {
  std::vector<size_t> widths(right_.size());
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], CharactersOf(row[i]));
  }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::string line(indent);
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - CharactersOf(row[i]), ' ');
      line += fmt::format("{}{}{}", i == 0 ? "" : "  ", right_[i] ? padding : "", row[i]);
      if (!right_[i]) line += padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace batchweave::cli
