// The caption files beside the pictures: one sentence in many languages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "batchweave/base/result.h"

namespace batchweave::demo {

struct Caption {
  std::string language;  // As the file says it: "de", "ca@valencia".
  std::string text;
  friend bool operator==(const Caption&, const Caption&) = default;
};

// Parses a caption file: the first line is English and bare, each other line is `LANGUAGE.utf8=TEXT`. Empty lines are
// skipped. Errors: kCorrupt (a line of another shape; the message has its number).
Result<std::vector<Caption>> ParseCaptions(std::string_view file);

}  // namespace batchweave::demo
