#include "sim/scale/fork_each.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <list>

#include "batchweave/base/check.h"

namespace batchweave::sim {
namespace {

struct Child {
  size_t index;
  pid_t process;
  int pipe;
  std::string said{};
};

void WriteAll(int fd, const std::string& text) {
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t size = write(fd, text.data() + sent, text.size() - sent);
    if (size < 0 && errno != EINTR) _exit(1);
    sent += size > 0 ? static_cast<size_t>(size) : 0;
  }
}

Child Start(size_t index, const std::function<std::string(size_t)>& work) {
  int ends[2];
  BW_CHECK(pipe(ends) == 0);
  std::fflush(nullptr);
  const pid_t process = fork();
  BW_CHECK(process >= 0);
  if (process == 0) {
    close(ends[0]);
    WriteAll(ends[1], work(index));
    _exit(0);
  }
  close(ends[1]);
  return {.index = index, .process = process, .pipe = ends[0]};
}

// False: it has said all.
bool Receive(Child& child) {
  std::array<char, 65536> buffer;
  const ssize_t size = read(child.pipe, buffer.data(), buffer.size());
  if (size > 0) child.said.append(buffer.data(), static_cast<size_t>(size));
  return size > 0 || (size < 0 && errno == EINTR);
}

bool Join(const Child& child) {
  close(child.pipe);
  int status = 0;
  waitpid(child.process, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::vector<std::optional<std::string>> ForkEach(const std::vector<uint64_t>& memory_bytes, const ForkLimits& limits,
                                                 const std::function<std::string(size_t)>& work,
                                                 const std::function<void(size_t, const std::string&)>& told) {
  std::vector<std::optional<std::string>> answers(memory_bytes.size());
  std::vector<Child> children;
  std::list<size_t> waiting;
  for (size_t i = 0; i < memory_bytes.size(); ++i) waiting.push_back(i);
  uint64_t taken_bytes = 0;
  const auto fits = [&](size_t i) {
    return children.empty() ||
           (taken_bytes <= limits.memory_bytes && memory_bytes[i] <= limits.memory_bytes - taken_bytes);
  };
  while (!waiting.empty() || !children.empty()) {
    for (auto next = waiting.begin(); next != waiting.end() && children.size() < limits.jobs;) {
      if (!fits(*next)) {
        ++next;
        continue;
      }
      taken_bytes += memory_bytes[*next];
      children.push_back(Start(*next, work));
      next = waiting.erase(next);
    }
    std::vector<pollfd> polled;
    for (const Child& child : children) polled.push_back({.fd = child.pipe, .events = POLLIN, .revents = 0});
    if (poll(polled.data(), polled.size(), /*timeout_ms=*/-1) < 0) continue;
    for (size_t i = polled.size(); i-- > 0;) {
      if (polled[i].revents == 0 || Receive(children[i])) continue;
      const Child done = std::move(children[i]);
      children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
      taken_bytes -= memory_bytes[done.index];
      if (!Join(done)) continue;
      answers[done.index] = done.said;
      told(done.index, done.said);
    }
  }
  return answers;
}

}  // namespace batchweave::sim
