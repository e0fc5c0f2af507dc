#include "examples/demo/data/utf8.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace batchweave::demo {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

// How many bytes from the first on are one well-formed sequence (table 3-7 of the Unicode standard); 0: none.
size_t SequenceSize(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const size_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < size || !std::ranges::all_of(text.substr(1, size - 1), IsContinuation)) return 0;
  const auto second = static_cast<uint8_t>(text[1]);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second > 0x9F;
  const bool too_large = lead == 0xF4 && second > 0x8F;
  return overlong || surrogate || too_large ? 0 : size;
}

}  // namespace

std::string ReplaceInvalidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t size = SequenceSize(text);
    valid += size == 0 ? kReplacement : text.substr(0, size);
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return valid;
}

}  // namespace batchweave::demo
