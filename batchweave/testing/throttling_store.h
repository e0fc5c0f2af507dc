// A store that takes one write a second of a key and refuses what comes sooner, as Google's does (fault E5).
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "batchweave/base/clock.h"
#include "batchweave/store/object_store.h"

namespace batchweave {

// Safe for concurrent use.
class ThrottlingStore final : public ObjectStore {
 public:
  // `base` and `clock` must outlive the store. `refusal` is how a put is refused: kUnavailable, or kUnknownOutcome as a
  // client says of a server's 429. A delete is refused as kUnavailable.
  ThrottlingStore(ObjectStore& base, Clock& clock, ErrorCode refusal) : base_(base), clock_(clock), refusal_(refusal) {}

  // Writes that were refused so far.
  size_t refused() {
    std::lock_guard own(mutex_);
    return refused_;
  }

  // A create of a key that is there is no write.
  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override {
    const bool is_lost = mode == PutMode::kCreate && base_.Stat(key).ok();
    if (!is_lost && IsTooSoon(key)) return Error{refusal_, "too many writes of a key"};
    return base_.Put(key, pieces, mode);
  }
  Result<void> Delete(std::span<const std::string> keys) override {
    for (const std::string& key : keys) {
      if (IsTooSoon(key)) return Error{ErrorCode::kUnavailable, "too many writes of a key"};
    }
    return base_.Delete(keys);
  }
  Result<void> Get(std::span<ReadRequest> requests) override { return base_.Get(requests); }
  Result<Bytes> Read(std::string_view key) override { return base_.Read(key); }
  Result<uint64_t> Stat(std::string_view key) override { return base_.Stat(key); }
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override {
    return base_.List(prefix, start_after, limit);
  }
  StoreTraits traits() const override { return base_.traits(); }

 private:
  // Whether a write of `key` is refused now; if it is not, it is one.
  bool IsTooSoon(std::string_view key) {
    std::lock_guard own(mutex_);
    const TimePoint now = clock_.Now();
    const auto [at, is_first] = written_.try_emplace(std::string(key), now);
    if (!is_first && now < After(at->second, std::chrono::seconds(1))) {
      ++refused_;
      return true;
    }
    at->second = now;
    return false;
  }

  ObjectStore& base_;
  Clock& clock_;
  const ErrorCode refusal_;
  std::mutex mutex_;
  size_t refused_ = 0;
  std::map<std::string, TimePoint> written_;  // When each key was last written.
};

}  // namespace batchweave
