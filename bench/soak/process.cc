#include "bench/soak/process.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>

#include "batchweave/base/check.h"

namespace batchweave::bench {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitBroken = 2;

int ExitCodeOf(const Result<void>& result) {
  if (result.ok()) return 0;
  fmt::print(stderr, "soak: a process ended: {}\n", ToString(result.error()));
  std::fflush(nullptr);
  const ErrorCode code = result.error().code;
  const bool passes =
      code == ErrorCode::kUnavailable || code == ErrorCode::kUnknownOutcome || code == ErrorCode::kStalled;
  return passes ? kExitFailed : kExitBroken;
}

uint64_t ResidentKib(pid_t id) {
  std::ifstream status(fmt::format("/proc/{}/status", id));
  for (std::string word; status >> word;) {
    uint64_t kib = 0;
    if (word == "VmRSS:" && status >> kib) return kib;
  }
  return 0;  // It is gone.
}

}  // namespace

SoakProcess::SoakProcess(const std::function<Result<void>()>& body, TimePoint settled_at) : settled_at_(settled_at) {
  // What is buffered would else be printed by both.
  std::fflush(nullptr);
  id_ = fork();
  BW_CHECK(id_ >= 0);
  if (id_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // A soak that is interrupted leaves nobody behind.
  _exit(ExitCodeOf(body()));
}

SoakProcess::~SoakProcess() { Kill(); }

Ending SoakProcess::Poll() {
  int status = 0;
  if (ending_ != Ending::kRuns || waitpid(id_, &status, WNOHANG) != id_) return ending_;
  ending_ = Ending::kBroken;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) ending_ = Ending::kDone;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kExitFailed) ending_ = Ending::kFailed;
  return ending_;
}

void SoakProcess::Kill() {
  if (Poll() != Ending::kRuns) return;
  kill(id_, SIGKILL);
  int status = 0;
  while (waitpid(id_, &status, 0) < 0) BW_CHECK(errno == EINTR);
  ending_ = Ending::kFailed;
}

void SoakProcess::Pause() {
  if (Poll() == Ending::kRuns) kill(id_, SIGSTOP);
}

void SoakProcess::GoOn() {
  if (Poll() == Ending::kRuns) kill(id_, SIGCONT);
}

void SoakProcess::Sample(TimePoint now) {
  if (ending_ != Ending::kRuns || now < settled_at_) return;
  const uint64_t kib = ResidentKib(id_);
  if (settled_kib_ == 0) settled_kib_ = kib;
  if (kib > settled_kib_) growth_kib_ = std::max(growth_kib_, kib - settled_kib_);
}

}  // namespace batchweave::bench
