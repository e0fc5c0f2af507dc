#include "batchweave/store/overwrite_probe.h"

#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace batchweave {
namespace {

constexpr int kCreators = 4;
// Tries of all creators together, and overwrites: on a store with 20 ms a request that takes a second or two.
constexpr int kTries = 128;
constexpr int kOverwritesMin = 64;
// The overwriter goes on until the creators have tried so often, but not for ever where they are much slower than it.
constexpr int kOverwritesMax = 20'000;

class OverwriteRace {
 public:
  OverwriteRace(Env env, std::string_view prefix) : env_(env), key_(fmt::format("{}slot", prefix)) {}

  Result<void> Run() {
    BW_TRY(PutBytes(env_.store, key_, AsBytes("before"), PutMode::kCreate));
    Result<void> overwritten = Race();
    Result<void> removed = env_.store.Delete({&key_, 1});
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
    Result<void> put;
    for (int i = 0; put.ok() && !IsBroken() && i < kOverwritesMax && (i < kOverwritesMin || tries_ < kTries); ++i) {
      put = PutBytes(env_.store, key_, AsBytes(i % 2 == 0 ? "after" : "before"), PutMode::kOverwrite);
    }
    over_ = true;
    return put;
  }

  // For as long as the overwriter does. Answers that say nothing are no news either way.
  void CreateAndRead() {
    while (!over_) {
      if (PutBytes(env_.store, key_, AsBytes("created"), PutMode::kCreate).ok()) created_ = true;
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
