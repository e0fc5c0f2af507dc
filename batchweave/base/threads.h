// Threads, from outside: std::thread in production, actors of the simulator there, so that the simulator runs the very
// shells that production runs. docs/style.md lists the files that start threads.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace batchweave {

// A thread that was started. Destroying it joins it: the owner first makes the loop inside return.
class Thread {
 public:
  virtual ~Thread() = default;
};

// Safe for concurrent use.
class Threads {
 public:
  virtual ~Threads() = default;

  // Runs `body` on a thread of its own, named `name` (up to 15 bytes are shown by the system) for debuggers and traces.
  // Ends the process where the system has none left.
  virtual std::unique_ptr<Thread> Start(std::string name, std::function<void()> body) = 0;
};

class SystemThreads final : public Threads {
 public:
  std::unique_ptr<Thread> Start(std::string name, std::function<void()> body) override;
};

}  // namespace batchweave
