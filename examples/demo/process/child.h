// A program that runs beside us: its standard output comes here line by line, its standard error goes to a file,
// and its standard input is what we write.
//
// It dies when its Child is destroyed, and when we die. Not safe for concurrent use, and to be started by the thread
// that lives longest: for Linux a parent that is gone is a thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "batchweave/base/clock.h"
#include "batchweave/base/result.h"

namespace batchweave::demo {

class Child {
 public:
  struct Command {
    std::string name{};                    // For messages.
    std::vector<std::string> arguments{};  // The program's path first.
    std::string log_path{};                // What it writes to standard error is appended to this file.
  };

  // Errors: kUnavailable (the system has no process or pipe to give). A program that does not exist ends with 127.
  static Result<Child> Start(const Command& command);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  // The lines that are complete and were not taken before. Never waits.
  std::vector<std::string> TakeLines();

  // One line to its standard input. Where nobody reads any more, that is seen by Ended().
  void WriteLine(std::string_view line);

  // How it ended, once it has: its exit status, or 128 and the number of the signal. Never waits.
  std::optional<int> Ended();

  // kill -9; returns when it is gone.
  void Kill();

 private:
  Child(pid_t id, int socket) : id_(id), socket_(socket) {}
  void Reap(int options);

  pid_t id_ = -1;
  int socket_ = -1;   // Its standard input and output are the other end.
  std::string rest_;  // A line that is not complete.
  std::optional<int> status_;
};

// Waits for the one line that it answers. Errors: kUnavailable (it ended without; or `deadline` passed).
Result<std::string> AwaitLine(Child& child, const Child::Command& command, Clock& clock, TimePoint deadline);

struct Finished {
  int status = 0;  // As Child::Ended.
  std::vector<std::string> lines;
};

// Runs a program and waits for its end. Errors: as Child::Start.
Result<Finished> RunToEnd(const Child::Command& command, Clock& clock);

// The last line of a log, for messages; empty where there is none.
std::string LastLineOf(const std::string& log_path);

}  // namespace batchweave::demo
