#include "batchweave/testing/child_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "batchweave/base/check.h"

namespace batchweave {

ChildProcess::ChildProcess(const std::function<bool()>& body) {
  // What is buffered would else be printed by both.
  std::fflush(nullptr);
  id_ = fork();
  BW_CHECK(id_ >= 0);
  if (id_ != 0) return;
  const bool went_well = body();
  std::fflush(nullptr);
  _exit(went_well ? 0 : 1);
}

ChildProcess::~ChildProcess() {
  if (!gone_) Kill();
}

void ChildProcess::Kill() {
  kill(id_, SIGKILL);
  Wait();
}

bool ChildProcess::AwaitStopped() {
  int status = 0;
  while (waitpid(id_, &status, WUNTRACED) < 0) BW_CHECK(errno == EINTR);
  gone_ = !WIFSTOPPED(status);
  return !gone_;
}

void ChildProcess::Continue() { kill(id_, SIGCONT); }

int ChildProcess::WaitForCode() {
  int status = 0;
  while (waitpid(id_, &status, 0) < 0) BW_CHECK(errno == EINTR);
  gone_ = true;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool ChildProcess::Wait() { return WaitForCode() == 0; }

}  // namespace batchweave
