#include "examples/demo/process/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "batchweave/base/check.h"
#include "examples/demo/data/files.h"

namespace batchweave::demo {
namespace {

constexpr Duration kLookAgainAfter = std::chrono::milliseconds(5);
constexpr int kNoSuchProgram = 127;  // As shells say it.

// In the new process, between fork and exec.
[[noreturn]] void Become(const Child::Command& command, std::vector<char*> arguments, int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int log = open(command.log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log >= 0) dup2(log, STDERR_FILENO);
  dup2(socket, STDIN_FILENO);
  dup2(socket, STDOUT_FILENO);
  execv(arguments[0], arguments.data());
  std::fprintf(stderr, "cannot start %s: %s\n", arguments[0], std::strerror(errno));
  _exit(kNoSuchProgram);
}

Error NoProcess(const Child::Command& command) {
  return {ErrorCode::kUnavailable, fmt::format("no process for {}: {}", command.name, std::strerror(errno))};
}

}  // namespace

Result<Child> Child::Start(const Command& command) {
  std::array<int, 2> ends{};  // What is written to either end is read from the other.
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return NoProcess(command);
  const auto [ours, theirs] = ends;
  std::vector<char*> arguments;
  for (const std::string& argument : command.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::fflush(nullptr);  // What is buffered would else be printed by both.
  const pid_t id = fork();
  if (id == 0) Become(command, std::move(arguments), theirs);
  close(theirs);
  if (id > 0) return Child(id, ours);
  const Error error = NoProcess(command);
  close(ours);
  return error;
}

Child::Child(Child&& other) noexcept
    : id_(std::exchange(other.id_, -1)),
      socket_(std::exchange(other.socket_, -1)),
      rest_(std::move(other.rest_)),
      status_(other.status_) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(socket_, other.socket_);
  std::swap(rest_, other.rest_);
  std::swap(status_, other.status_);
  return *this;
}

Child::~Child() {
  if (id_ < 0) return;
  Kill();
  close(socket_);
}

std::vector<std::string> Child::TakeLines() {
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) rest_.append(buffer.data(), static_cast<size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) break;
  }
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
    lines.push_back(rest_.substr(begin, end - begin));
    begin = end + 1;
  }
  rest_.erase(0, begin);
  return lines;
}

void Child::WriteLine(std::string_view line) {
  std::string rest = std::string(line) + '\n';
  while (!rest.empty()) {
    const ssize_t sent = send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return;
    if (sent > 0) rest.erase(0, static_cast<size_t>(sent));
  }
}

std::optional<int> Child::Ended() {
  Reap(WNOHANG);
  return status_;
}

void Child::Kill() {
  if (status_.has_value()) return;
  kill(id_, SIGKILL);
  Reap(0);
}

void Child::Reap(int options) {
  if (status_.has_value()) return;
  int status = 0;
  pid_t reaped = 0;
  do reaped = waitpid(id_, &status, options);
  while (reaped < 0 && errno == EINTR);
  BW_CHECK(reaped >= 0);
  if (reaped == 0) return;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<std::string> AwaitLine(Child& child, const Child::Command& command, Clock& clock, TimePoint deadline) {
  for (;;) {
    const std::optional<int> status = child.Ended();
    std::vector<std::string> lines = child.TakeLines();
    if (!lines.empty()) return std::move(lines.front());
    if (status.has_value()) {
      return Error{ErrorCode::kUnavailable, fmt::format("{} ended without an answer; the last line of {} is: {}",
                                                        command.name, command.log_path, LastLineOf(command.log_path))};
    }
    if (clock.Now() >= deadline) return Error{ErrorCode::kUnavailable, fmt::format("{} gives no answer", command.name)};
    clock.SleepUntil(After(clock.Now(), kLookAgainAfter));
  }
}

Result<Finished> RunToEnd(const Child::Command& command, Clock& clock) {
  Child child = BW_TRY(Child::Start(command));
  Finished finished;
  for (;;) {
    const std::optional<int> status = child.Ended();
    for (std::string& line : child.TakeLines()) finished.lines.push_back(std::move(line));
    if (status.has_value()) {
      finished.status = *status;
      return finished;
    }
    clock.SleepUntil(After(clock.Now(), kLookAgainAfter));
  }
}

std::string LastLineOf(const std::string& log_path) {
  const Result<Bytes> log = ReadFile(log_path);
  if (!log.ok()) return "";
  std::string_view text = AsText(*log);
  while (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

}  // namespace batchweave::demo
