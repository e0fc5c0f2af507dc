// What Python holds of the library: a shared hold on one object, which knows the process that it belongs to.
//
// A forked child has its parent's objects and none of its threads, and a lock that a thread held stays locked for ever.
// So a child uses none of them and destroys none: what it was given is left as it lies.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "python/bindings/durations.h"
#include "python/bindings/errors.h"
#include "python/bindings/interrupt.h"

namespace batchweave::python {

// Forks between the process that loaded the module and this one: a child has another number than its parent. It tells
// them apart without asking the system, which getpid() does, three times a step. Counted by the child (module.cc).
inline constinit std::atomic<uint32_t> forks{0};

// Shared: by the handle and by a call that outlives it (interrupt.h). In another process the object is left alone.
template <typename T, typename... Arguments>
std::shared_ptr<T> MakeShared(Arguments&&... arguments) {
  const auto destroy = [process = forks.load()](T* object) {
    if (forks == process) delete object;
  };
  return std::shared_ptr<T>(new T{std::forward<Arguments>(arguments)...}, destroy);
}

// Every method is called with the GIL held.
template <typename T>
class Handle {
 public:
  explicit Handle(std::shared_ptr<T> object) : object_(std::move(object)) {}
  Handle(Handle&&) noexcept = default;
  Handle& operator=(Handle&&) noexcept = default;
  ~Handle() { Release(); }

  // Raises Closed after Release(), and in a process that was forked since.
  const std::shared_ptr<T>& Get() const {
    if (!object_) Raise({ErrorCode::kClosed, "the handle was closed"});
    if (forks != process_) {
      Raise({ErrorCode::kClosed, "the handle was opened by another process, before a fork: open it anew in this one"});
    }
    return object_;
  }

  bool is_open() const { return object_ != nullptr && forks == process_; }

  // Gives the object to the caller, and is closed. Raises as Get().
  std::shared_ptr<T> Take() {
    Get();
    return std::exchange(object_, nullptr);
  }

  // Lets go. Without the GIL: the object may have threads to end.
  void Release() {
    if (!object_) return;
    const nanobind::gil_scoped_release release;
    object_.reset();
  }

 private:
  std::shared_ptr<T> object_;
  uint32_t process_ = forks;
};

// Closes: lets go as a call that Ctrl-C ends, since the object may have threads to end that wait for the store. Those are
// awaited for `patience` seconds; None: for as long as it takes.
template <typename T>
void CloseHandle(Handle<T>& handle, nanobind::handle patience) {
  if (handle.is_open()) RunBlockingFor(PatienceOf(patience), [object = handle.Take()] { return true; });
  handle.Release();
}

}  // namespace batchweave::python
