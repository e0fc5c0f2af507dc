// Calls that take long, with the GIL released, from which Ctrl-C comes back within kSignalInterval.
//
// Python runs the handlers of signals in the process's first thread alone, and only between calls of ours. So that thread
// never waits long itself: a helper makes the call. Where a handler raises, the helper is left to end the call alone; it
// touches nothing of Python. What the call did is then as open as after a kill: the next opening tells.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "batchweave/base/clock.h"

namespace batchweave::python {

inline constexpr Duration kSignalInterval = std::chrono::milliseconds(100);

// Counted for tests, which ask that a call is one that Ctrl-C ends, and that it ends at the next look.
inline constinit std::atomic<uint64_t> blocking_calls{0};
inline constinit std::atomic<uint64_t> signal_checks{0};

// True in the thread that runs the handlers of signals.
bool HandlesSignals();

// Raises what a handler of a signal that came meanwhile raises. The GIL is held.
void CheckSignals();

// Returns what `call` returns, and keeps its captures no longer than that takes. They must hold all that it uses. In the
// thread that handles signals a call that takes longer than `patience` is left to end alone, and there is no outcome.
template <typename Call>
std::optional<std::invoke_result_t<Call&>> RunBlockingFor(Duration patience, Call call) {
  using Outcome = std::invoke_result_t<Call&>;
  ++blocking_calls;
  if (!HandlesSignals()) {
    std::optional<Call> held(std::move(call));
    const nanobind::gil_scoped_release release;
    Outcome outcome = (*held)();
    held.reset();  // It may be the last to hold what has threads to end.
    return outcome;
  }
  struct Shared {
    std::mutex mutex;
    std::condition_variable ended;
    std::optional<Outcome> outcome;
  };
  const auto shared = std::make_shared<Shared>();
  std::thread([shared, held = std::optional<Call>(std::move(call))]() mutable {
    Outcome outcome = (*held)();
    held.reset();  // Before the caller goes on: it may be the last to hold what it closes next.
    const std::lock_guard lock(shared->mutex);
    shared->outcome = std::move(outcome);
    shared->ended.notify_one();
  }).detach();
  for (Duration left = patience; left > Duration{}; left -= kSignalInterval) {
    {
      const nanobind::gil_scoped_release release;
      std::unique_lock lock(shared->mutex);
      if (shared->ended.wait_for(lock, kSignalInterval, [&] { return shared->outcome.has_value(); })) {
        return std::move(shared->outcome);
      }
    }
    CheckSignals();
  }
  return std::nullopt;
}

// The same with all the patience that it takes.
template <typename Call>
std::invoke_result_t<Call&> RunBlocking(Call call) {
  return *RunBlockingFor(Duration::max(), std::move(call));
}

}  // namespace batchweave::python
