#include "cli/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace batchweave::cli {
namespace {

// Never throws: what is not UTF-8 is replaced, in text that came from outside.
std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

bool Console::output_is_terminal() const { return isatty(STDOUT_FILENO) == 1; }
bool Console::error_is_terminal() const { return isatty(STDERR_FILENO) == 1; }

// What fails here is remembered by the stream, and told by Flush.
void Console::Write(ByteView bytes) { std::fwrite(bytes.data(), 1, bytes.size(), stdout); }
void Console::Print(std::string_view text) { Write(AsBytes(text)); }
void Console::PrintJson(const Json& json) { Print(Dump(json) + "\n"); }

Result<void> Console::Flush() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  const std::string cause = errno == 0 ? "an earlier write failed" : std::strerror(errno);
  return Error{ErrorCode::kDenied, fmt::format("cannot write to standard output: {}", cause)};
}

void Console::Note(std::string_view text) {
  if (!json_) fmt::print(stderr, "{}\n", text);
}

void Console::Fail(const Failure& failure) {
  // Results first, where both go to one terminal. What they met is told by the caller's own Flush.
  std::fflush(stdout);
  if (!json_) {
    fmt::print(stderr, "{}: {}\n", failure.command, failure.message);
    if (!failure.advice.empty()) fmt::print(stderr, "  {}\n", failure.advice);
    return;
  }
  const Json json = {{"error", failure.kind},
                     {"exit_code", failure.exit_code},
                     {"message", failure.message},
                     {"advice", failure.advice},
                     {"command", failure.command}};
  fmt::print(stderr, "{}\n", Dump(json));
}

}  // namespace batchweave::cli
