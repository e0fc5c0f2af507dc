// The command `batchweave`.
#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <span>

#include "cli/command_line.h"
#include "cli/commands.h"

namespace {

// A standard stream that was closed would give its number to the next file that is opened, and that file what is
// printed. In its place is put one that takes nothing.
void OccupyStandardStreams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", O_RDONLY) != fd) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  OccupyStandardStreams();
  // Whoever started us may have it ignored: `batchweave tail | head` ends quietly all the same.
  std::signal(SIGPIPE, SIG_DFL);
  batchweave::cli::CommandLine line;
  for (batchweave::cli::AddCommand* add : batchweave::cli::kCommands) add(line);
  try {
    line.Parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return line.Explain(error, std::span(argv, static_cast<size_t>(argc)).subspan(1));
  }
  return line.Run();
}
