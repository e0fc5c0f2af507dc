#include "batchweave/store/overwrite_probe.h"

#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "batchweave/base/fault_point.h"

namespace batchweave {
namespace {

constexpr int kCreators = 4;
// Tries of all creators together, and overwrites: on a store with 20 ms a request that takes a second or two.
constexpr int kTries = 128;
constexpr int kOverwritesMin = 64;
// The overwriter goes on until the creators have tried so often, but not for ever where they are much slower than it.
constexpr int kOverwritesMax = 20'000;
// Nor where the store takes one write a second of a key and refuses all others, as Google's does: what was tried by
// then must do, if there were some overwrites at all.
constexpr Duration kRaceTime = std::chrono::seconds(20);
constexpr int kOverwritesEnough = 2;
// Between tries that were refused, for each.
constexpr Duration kRefusedPause = std::chrono::milliseconds(500);
// For the delete at the end, which comes right after an overwrite and may be refused for that.
constexpr Duration kRemoveTime = std::chrono::seconds(10);

// Nothing is known of it, or nothing happened: a server's 429 is the one or the other, by what was asked.
bool WasRefused(const Result<void>& write) {
  return FailedWith(write, ErrorCode::kUnavailable) || FailedWith(write, ErrorCode::kUnknownOutcome);
}

class OverwriteRace {
 public:
  OverwriteRace(Env env, std::string_view prefix) : env_(env), key_(fmt::format("{}slot", prefix)) {}

  Result<void> Run() {
    BW_TRY(PutBytes(env_.store, key_, AsBytes("before"), PutMode::kCreate));
    BW_FAULT_POINT("overwrite_probe.created");
    Result<void> overwritten = Race();
    Result<void> removed = Remove();
    if (created_) return Broken("a slot that was being overwritten was created again");
    if (absent_) return Broken("an object that was being overwritten was not there");
    BW_TRY(std::move(overwritten));
    return removed;
  }

 private:
  bool IsBroken() const { return created_ || absent_; }

  Error Broken(std::string_view how) const {
    return {ErrorCode::kUnsuitableStore, fmt::format("the store breaks a rule (overwrite): {}", how)};
  }

  Result<void> Race() {
    std::vector<std::unique_ptr<Thread>> creators;
    for (int i = 0; i < kCreators; ++i) {
      creators.push_back(env_.threads.Start(fmt::format("bw-probe-{}", i), [this] { CreateAndRead(); }));
    }
    const Result<void> overwritten = OverwriteAndOver();
    over_ = true;
    return overwritten;
  }

  Result<void> OverwriteAndOver() {
    const TimePoint deadline = After(env_.clock.Now(), kRaceTime);
    int done = 0;
    while (!IsBroken() && done < kOverwritesMax && (done < kOverwritesMin || tries_ < kTries)) {
      Result<void> put = PutBytes(env_.store, key_, AsBytes(done % 2 == 0 ? "after" : "before"), PutMode::kOverwrite);
      done += put.ok() ? 1 : 0;
      if (!put.ok() && !WasRefused(put)) return put;
      if (env_.clock.Now() >= deadline) {
        if (done >= kOverwritesEnough) return {};
        return Error{ErrorCode::kUnavailable, fmt::format("only {} overwrites in all the time there was", done)};
      }
      if (!put.ok()) Pause();
    }
    return {};
  }

  Result<void> Remove() {
    const TimePoint deadline = After(env_.clock.Now(), kRemoveTime);
    for (;;) {
      Result<void> removed = env_.store.Delete({&key_, 1});
      if (!WasRefused(removed) || env_.clock.Now() >= deadline) return removed;
      Pause();
    }
  }

  void Pause() {
    const auto jittered = std::chrono::duration_cast<Duration>(kRefusedPause * (0.5 + NextUnit(env_.random)));
    env_.clock.SleepUntil(After(env_.clock.Now(), jittered));
  }

  // For as long as the overwriter does. Answers that say nothing are no news either way.
  void CreateAndRead() {
    while (!over_) {
      const Result<void> put = PutBytes(env_.store, key_, AsBytes("created"), PutMode::kCreate);
      if (put.ok()) created_ = true;
      if (WasRefused(put)) Pause();
      if (FailedWith(env_.store.Read(key_), ErrorCode::kNotFound)) absent_ = true;
      tries_ += 1;
    }
  }

  const Env env_;
  const std::string key_;
  std::atomic<int> tries_{0};
  std::atomic<bool> over_{false};
  std::atomic<bool> created_{false};
  std::atomic<bool> absent_{false};
};

}  // namespace

Result<void> ProbeOverwrite(Env env, std::string_view prefix) {
  Result<void> result = OverwriteRace(env, prefix).Run();
  if (result.ok()) return {};
  // Of an object that means nothing to anybody, "may have happened" is as good as "did not".
  const bool unknown = FailedWith(result, ErrorCode::kUnknownOutcome) || FailedWith(result, ErrorCode::kAlreadyExists);
  Error error = WithContext(std::move(result).error(), "while trying out how the store overwrites");
  if (unknown) error.code = ErrorCode::kUnavailable;
  return error;
}

}  // namespace batchweave
