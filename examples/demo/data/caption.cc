#include "examples/demo/data/caption.h"

#include <fmt/format.h>

#include <algorithm>

namespace batchweave::demo {
namespace {

constexpr std::string_view kSeparator = ".utf8=";

std::string_view TakeLine(std::string_view& rest) {
  const size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

}  // namespace

Result<std::vector<Caption>> ParseCaptions(std::string_view file) {
  std::vector<Caption> captions;
  for (int number = 1; !file.empty(); ++number) {
    const std::string_view line = TakeLine(file);
    if (line.empty()) continue;
    if (number == 1) {
      captions.push_back({.language = "en", .text = std::string(line)});
      continue;
    }
    const size_t separator = line.find(kSeparator);
    if (separator == 0 || separator == std::string_view::npos) {
      return Error{ErrorCode::kCorrupt, fmt::format("not a caption: line={}", number)};
    }
    captions.push_back({.language = std::string(line.substr(0, separator)),
                        .text = std::string(line.substr(separator + kSeparator.size()))});
  }
  return captions;
}

}  // namespace batchweave::demo
