#include "examples/demo/run/worker.h"

#include <fmt/format.h>

#include <utility>

namespace batchweave::demo {

Worker::Worker(Child::Command command, Clock& clock, std::optional<uint64_t> killed_at)
    : command_(std::move(command)), killed_at_(killed_at), clock_(&clock) {}

Result<void> Worker::Start() {
  Child::Command command = command_;
  if (starts_ == 0 && killed_at_) {
    command.arguments.push_back("--stand-at");
    command.arguments.push_back(std::to_string(*killed_at_));
  }
  child_ = BW_TRY(Child::Start(command));
  earlier_ = {.bytes = bytes(), .requests = requests()};
  now_ = {};
  state_ = State::kStarting;
  ++starts_;
  return {};
}

void Worker::Kill(Duration restart_after) {
  if (state_ != State::kStarting && state_ != State::kRunning) return;
  child_->Kill();
  state_ = State::kKilled;
  restart_at_ = After(clock_->Now(), restart_after);
}

Result<std::vector<ProgressReport>> Worker::Observe() {
  std::vector<ProgressReport> reports;
  if (ended()) return reports;
  // In this order: once it has ended, all that it ever wrote is there to take.
  const std::optional<int> status = child_->Ended();
  for (const std::string& line : child_->TakeLines()) {
    const std::optional<ProgressReport> report = ParseReport(line);
    if (!report.has_value()) continue;
    TakeIn(*report);
    reports.push_back(*report);
  }
  if (state_ == State::kKilled) {
    if (clock_->Now() >= restart_at_) BW_TRY(Start());
  } else if (status == 0) {
    state_ = State::kEnded;
  } else if (status.has_value()) {
    return Error{ErrorCode::kUnavailable, fmt::format("{} failed with status {}; the last line of {} is: {}", name(),
                                                      *status, command_.log_path, LastLineOf(command_.log_path))};
  }
  return reports;
}

void Worker::TakeIn(const ProgressReport& report) {
  if (state_ == State::kStarting) state_ = State::kRunning;
  // A producer that had finished before it was killed comes back to say just that.
  if (report.at > 0) position_ = report.at;
  saved_ = report.saved;
  share_ = report.share;
  now_ = {.bytes = report.bytes, .requests = report.requests};
}

}  // namespace batchweave::demo
