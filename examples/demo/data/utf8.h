// Text that is almost UTF-8 made so.
#pragma once

#include <string>
#include <string_view>

namespace batchweave::demo {

// `text` with each byte that is not part of a well-formed UTF-8 sequence replaced by U+FFFD. A sequence cut short,
// overlong, of a surrogate or beyond U+10FFFF is not well-formed. The tokenizer accepts nothing but UTF-8, and of the
// 40 MB of the dictionary three bytes are Latin-1: those three become U+FFFD, and all else stays as it is.
std::string ReplaceInvalidUtf8(std::string_view text);

}  // namespace batchweave::demo
