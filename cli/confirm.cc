#include "cli/confirm.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace batchweave::cli {

Result<void> Confirm(Console& console, bool yes, std::string_view what, std::string_view word) {
  if (yes) return {};
  if (console.json() || !console.error_is_terminal() || isatty(STDIN_FILENO) != 1) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}: nobody is there to ask: --yes says that it is meant", what)};
  }
  console.Note(fmt::format("{}\nType {} to go on:", what, word));
  std::array<char, 256> line{};
  const bool read = std::fgets(line.data(), line.size(), stdin) != nullptr;
  std::string typed = read ? line.data() : "";
  while (!typed.empty() && (typed.back() == '\n' || typed.back() == '\r')) typed.pop_back();
  if (typed == word) return {};
  return Error{ErrorCode::kInvalidArgument, "not confirmed: nothing was changed"};
}

}  // namespace batchweave::cli
