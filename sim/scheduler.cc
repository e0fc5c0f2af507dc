#include "sim/scheduler.h"

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

#include <utility>

#include "batchweave/base/check.h"
#include "sim/sanitizer_fibers.h"

namespace batchweave::sim {
namespace {

// The deepest calls of the library, encoders of manifests, need less than a quarter of it.
constexpr size_t kStackBytes = size_t{256} << 10;

}  // namespace

struct Scheduler::Fiber {
  FiberId id;
  const FiberOwner* owner;
  std::function<void()> body;
  boost::context::stack_context stack;
  boost::context::fiber context;    // Of the fibre, while it is suspended.
  boost::context::fiber scheduler;  // Of who resumed it, while it runs.
  SanitizerFiber sanitizer;
  std::vector<Wakeup> joining;  // Those that wait for its end.
  uint64_t suspension = 0;      // The number of the one that it is in, or will be in next.
  bool ended = false;
};

Scheduler::Scheduler() = default;

Scheduler::~Scheduler() {
  // A fibre that is destroyed in mid-run would be unwound by an exception through code that knows none.
  BW_CHECK(fibers_.empty());
}

void Scheduler::At(SimTime when, std::function<void()> action) {
  events_.push({.when = std::max(when, now_), .number = next_event_++, .action = std::move(action)});
}

FiberId Scheduler::Start(const FiberOwner& owner, std::function<void()> body) {
  auto fiber = std::make_unique<Fiber>();
  Fiber* self = fiber.get();
  fiber->id = {++next_fiber_};
  fiber->owner = &owner;
  fiber->body = std::move(body);
  boost::context::protected_fixedsize_stack stacks(kStackBytes);
  fiber->stack = stacks.allocate();
  const boost::context::preallocated place(fiber->stack.sp, fiber->stack.size, fiber->stack);
  fiber->context = boost::context::fiber(std::allocator_arg, place, stacks, [self](boost::context::fiber&& scheduler) {
    self->sanitizer.Entered();
    self->scheduler = std::move(scheduler);
    self->body();
    self->body = nullptr;
    self->ended = true;
    self->sanitizer.Leaving(/*for_good=*/true);
    return std::move(self->scheduler);
  });
  const FiberId id = fiber->id;
  fibers_.emplace(id.value, std::move(fiber));
  At(now_, [this, id] { Resume(id, 0); });
  return id;
}

Wakeup Scheduler::NextWakeup() const {
  BW_CHECK(current_ != nullptr);
  return {.fiber = current_->id, .suspension = current_->suspension};
}

void Scheduler::Join(FiberId fiber) {
  while (!Ended(fiber)) {
    fibers_.at(fiber.value)->joining.push_back(NextWakeup());
    Suspend();
  }
}

void Scheduler::Suspend() {
  BW_CHECK(current_ != nullptr);
  Fiber& self = *current_;
  self.sanitizer.Leaving(/*for_good=*/false);
  self.scheduler = std::move(self.scheduler).resume();
  self.sanitizer.Entered();
}

void Scheduler::SuspendUntil(SimTime when) {
  const Wakeup wakeup = NextWakeup();
  At(when, [this, wakeup] { Resume(wakeup.fiber, wakeup.suspension); });
  Suspend();
}

void Scheduler::Wake(const Wakeup& wakeup) {
  At(now_, [this, wakeup] { Resume(wakeup.fiber, wakeup.suspension); });
}

void Scheduler::WakeNow(FiberId fiber) {
  const auto found = fibers_.find(fiber.value);
  if (found != fibers_.end()) Wake({.fiber = fiber, .suspension = found->second->suspension});
}

void Scheduler::Resume(FiberId id, uint64_t suspension) {
  const auto found = fibers_.find(id.value);
  if (found == fibers_.end() || found->second->suspension != suspension) return;
  Fiber& fiber = *found->second;
  if (const SimTime runs_from = fiber.owner->RunsFrom(); runs_from > now_) {
    At(runs_from, [this, id, suspension] { Resume(id, suspension); });
    return;
  }
  fiber.suspension += 1;
  current_ = &fiber;
  // Stacks grow down from `sp`.
  fiber.sanitizer.Entering(static_cast<const char*>(fiber.stack.sp) - fiber.stack.size, fiber.stack.size);
  fiber.context = std::move(fiber.context).resume();
  fiber.sanitizer.Left();
  current_ = nullptr;
  if (!fiber.ended) return;
  for (const Wakeup& wakeup : fiber.joining) Wake(wakeup);
  fibers_.erase(id.value);
}

bool Scheduler::RunOne() {
  if (events_.empty()) return false;
  // A copy of a function is what a priority queue costs; top() is const for the sake of its order, which this keeps.
  Event event = std::move(const_cast<Event&>(events_.top()));
  events_.pop();
  now_ = event.when;
  event.action();
  return true;
}

}  // namespace batchweave::sim
