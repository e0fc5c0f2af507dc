// How numbers, times and bytes look to people. JSON gives plain numbers instead.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/base/clock.h"
#include "batchweave/format/grid.h"

namespace batchweave::cli {

// "1,234,567".
std::string Grouped(uint64_t number);

// "1 step", "2,000 steps".
std::string Counted(uint64_t number, std::string_view what);

// "just now", "42 s ago", "3 min ago", "5 h ago", "12 days ago". Clocks differ: what lies ahead is "just now" too.
std::string Ago(Duration age);

// "2026-11-29 20:35:50 UTC".
std::string UtcTime(int64_t since_1970_ns);

// "4 x 2": dp by cp.
std::string GridText(Grid grid);

// True where `bytes` are UTF-8 that a terminal shows as it is: no control characters, nothing malformed.
bool IsPrintableUtf8(ByteView bytes);

// The text where it is printable, else "0x" and hexadecimal digits; "none" where it is empty.
std::string TextOrHex(ByteView bytes);

// `text` cut to about `characters_max` characters, with "..." where something is missing.
std::string Shortened(std::string text, size_t characters_max);

// Columns, as wide as their widest cell.
class Table {
 public:
  // A heading that begins with '>' is of a column of numbers, which end in one line.
  explicit Table(const std::vector<std::string>& headings);

  void AddRow(std::vector<std::string> cells);

  // Each line begins with `indent` and ends with a newline.
  std::string Format(std::string_view indent) const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;  // The first are the headings.
};

}  // namespace batchweave::cli
