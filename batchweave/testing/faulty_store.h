// A store that fails when told: the Nth call, before or after its effect, or with an effect that comes later.
//
//   ForEachFailure([](const Fault& fault) {          // call 1, 2, 3... until all pass
//     MemoryStore memory;
//     FaultyStore store(memory, fault);
//     ...                                            // the operation, and what must hold whatever happened
//     return store.fired();
//   });
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "batchweave/testing/store_call.h"

namespace batchweave {

enum class FaultWhen {
  kBefore,  // The call has no effect.
  kAfter,   // It has its effect, and the answer is lost.
  kLater,   // A Put or Delete has its effect when ApplyDelayed() is called; any other call fails as with kBefore.
};

struct Fault {
  size_t fail_call = 0;  // The first call to fail, of those that `filter` means; the first is 1. 0: none fails.
  size_t calls = 1;      // So many in a row; kAllCalls: from then on.
  FaultWhen when = FaultWhen::kBefore;
  // kUnknownOutcome stands for kUnavailable where a call cannot have it (Get, Read, Stat, List, Delete).
  ErrorCode code = ErrorCode::kUnavailable;
  CallFilter filter = {};

  static constexpr size_t kAllCalls = std::numeric_limits<size_t>::max();
};

// Safe for concurrent use.
class FaultyStore final : public ObjectStore {
 public:
  // `base` must outlive the store.
  explicit FaultyStore(ObjectStore& base, Fault fault = {}) : base_(base), fault_(std::move(fault)) {}

  // Calls that the filter means, so far.
  size_t calls() const { return calls_; }
  // True if a call has failed for it.
  bool fired() const { return fault_.fail_call != 0 && calls_ >= fault_.fail_call; }
  // Lets the delayed effects happen, in their order. What they return is nobody's to see.
  void ApplyDelayed();

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override;
  Result<void> Get(std::span<ReadRequest> requests) override;
  Result<Bytes> Read(std::string_view key) override;
  Result<uint64_t> Stat(std::string_view key) override;
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override;
  Result<void> Delete(std::span<const std::string> keys) override;
  StoreTraits traits() const override { return base_.traits(); }

 private:
  // Counts the call if it is `meant`; true where it shall fail.
  bool Fails(bool meant);
  Error FaultOf(StoreCall call) const;
  void Delay(std::function<void()> effect);

  ObjectStore& base_;
  const Fault fault_;
  std::atomic<size_t> calls_{0};
  std::mutex mutex_;
  std::vector<std::function<void()>> delayed_;
};

// More calls than any operation of the library makes: a sweep that comes so far has no end.
inline constexpr size_t kSweepCallsMax = 5000;

// Runs `body` with call 1, 2, 3... failing, before and after its effect, until a run in which none has failed.
// `body` returns fired() of its FaultyStore.
template <typename Body>
void ForEachFailure(Body body, const CallFilter& filter = {}) {
  struct Way {
    FaultWhen when;
    ErrorCode code;
    const char* name;
  };
  for (const Way& way : {Way{FaultWhen::kBefore, ErrorCode::kUnavailable, "before its effect, unavailable"},
                         Way{FaultWhen::kBefore, ErrorCode::kUnknownOutcome, "before its effect, unknown outcome"},
                         Way{FaultWhen::kAfter, ErrorCode::kUnknownOutcome, "after its effect, unknown outcome"}}) {
    bool fired = true;
    for (size_t call = 1; fired; ++call) {
      ASSERT_LE(call, kSweepCallsMax);
      SCOPED_TRACE(::testing::Message() << "call " << call << " fails " << way.name);
      fired = body(Fault{.fail_call = call, .when = way.when, .code = way.code, .filter = filter});
    }
  }
}

}  // namespace batchweave
