// Runs part of a test in a process of its own: to race with it, to lose privileges in it, or to let it die.
#pragma once

#include <sys/types.h>

#include <functional>

namespace batchweave {

// A forked child that runs `body` and exits. The parent should have one thread.
class ChildProcess {
 public:
  // `body` returns whether all went well; EXPECT in it is not seen by the parent.
  explicit ChildProcess(const std::function<bool()>& body);
  // Kills it if nobody waited for it.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t id() const { return id_; }
  // kill -9, and waits until it is gone.
  void Kill();
  // Waits until it has stopped itself by SIGSTOP; false where it ended instead.
  bool AwaitStopped();
  void Continue();
  // Waits for its end: the exit code, or 128 + the signal where one ended it, as a shell says it.
  int WaitForCode();
  // The same: whether `body` returned true.
  bool Wait();

 private:
  pid_t id_;
  bool gone_ = false;
};

}  // namespace batchweave
