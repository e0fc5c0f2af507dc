#include "batchweave/store/cloud/cloud_store.h"

#include <algorithm>

#include "batchweave/store/cloud/cloud_abi.h"

namespace batchweave {
namespace {

// A person who mistyped an endpoint should not wait longer; who rides out a longer outage retries above.
constexpr Duration kRetryFor = std::chrono::seconds(10);

BwcView ViewOf(std::string_view text) { return {.data = text.data(), .size = text.size()}; }
std::string_view TextOf(BwcView view) { return {static_cast<const char*>(view.data), view.size}; }

ErrorCode CodeOf(BwcCode code) {
  switch (code) {
    case kBwcInvalidArgument: return ErrorCode::kInvalidArgument;
    case kBwcNotFound: return ErrorCode::kNotFound;
    case kBwcAlreadyExists: return ErrorCode::kAlreadyExists;
    case kBwcUnavailable: return ErrorCode::kUnavailable;
    case kBwcUnknownOutcome: return ErrorCode::kUnknownOutcome;
    case kBwcDenied: return ErrorCode::kDenied;
    case kBwcOk: break;
  }
  BW_CHECK(false);
  return ErrorCode::kUnavailable;
}

Error ErrorOf(const BwcStatus& status, std::string_view what, std::string_view key) {
  std::string message(what);
  message.append(" failed: ").append(status.message, status.message_size);
  if (!key.empty()) message.append(": key=").append(key);
  return {CodeOf(status.code), std::move(message)};
}

struct CloseHandle {
  void operator()(BwcHandle* handle) const { bwc_close(handle); }
};

class CloudStore final : public ObjectStore {
 public:
  CloudStore(std::unique_ptr<BwcHandle, CloseHandle> handle, Clock& clock, Random& random, RetryPolicy policy)
      : handle_(std::move(handle)), clock_(clock), random_(random), policy_(policy) {}

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override;
  Result<void> Get(std::span<ReadRequest> requests) override;
  Result<Bytes> Read(std::string_view key) override;
  Result<uint64_t> Stat(std::string_view key) override;
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override;
  Result<void> Delete(std::span<const std::string> keys) override;
  StoreTraits traits() const override;

 private:
  // `attempt` until it ends in something else than "nothing happened".
  template <typename Attempt>
  BwcStatus Retry(Attempt attempt);

  const std::unique_ptr<BwcHandle, CloseHandle> handle_;
  Clock& clock_;
  Random& random_;
  const RetryPolicy policy_;
};

template <typename Attempt>
BwcStatus CloudStore::Retry(Attempt attempt) {
  const TimePoint deadline = After(clock_.Now(), kRetryFor);
  Backoff backoff(clock_, random_, policy_, deadline);
  for (;;) {
    BwcStatus status{};
    attempt(&status);
    if (status.code != kBwcUnavailable) return status;
    const TimePoint allowed = After(clock_.Now(), std::chrono::milliseconds(status.retry_after_ms));
    if (allowed >= deadline || !backoff.Wait()) return status;
    clock_.SleepUntil(allowed);
  }
}

Result<void> CloudStore::Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) {
  BW_TRY(CheckKey(key));
  std::vector<BwcView> views;
  views.reserve(pieces.size());
  for (const ByteView piece : pieces) views.push_back({.data = piece.data(), .size = piece.size()});
  BwcStatus status{};
  bwc_put(handle_.get(), ViewOf(key), views.data(), views.size(), mode == PutMode::kCreate, &status);
  if (status.code != kBwcOk) return ErrorOf(status, "put", key);
  return {};
}

void TellObserver(void* observer, const void* data, size_t size) {
  static_cast<ReadObserver*>(observer)->OnBytes({static_cast<const std::byte*>(data), size});
}

Result<void> CloudStore::Get(std::span<ReadRequest> requests) {
  if (requests.empty()) return {};
  std::vector<BwcRead> reads;
  reads.reserve(requests.size());
  for (const ReadRequest& request : requests) {
    BW_TRY(CheckKey(request.key));
    reads.push_back({.key = ViewOf(request.key),
                     .offset = request.offset,
                     .buffer = request.buffer.data(),
                     .size = request.buffer.size(),
                     .observer = request.observer,
                     .on_bytes = request.observer == nullptr ? nullptr : TellObserver,
                     .received = 0});
  }
  bool first = true;
  const BwcStatus status = Retry([&](BwcStatus* out) {
    for (const ReadRequest& request : requests) {
      if (!first && request.observer != nullptr) request.observer->OnRestart();
    }
    first = false;
    bwc_get(handle_.get(), reads.data(), reads.size(), out);
  });
  if (status.code != kBwcOk) return ErrorOf(status, "read", requests.size() == 1 ? requests.front().key : "");
  for (size_t i = 0; i < reads.size(); ++i) requests[i].received_bytes = reads[i].received;
  return {};
}

Result<Bytes> CloudStore::Read(std::string_view key) {
  BW_TRY(CheckKey(key));
  Bytes bytes;
  const auto append = [](void* context, const void* data, size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    auto& into = *static_cast<Bytes*>(context);
    into.insert(into.end(), begin, begin + size);
  };
  const BwcStatus status = Retry([&](BwcStatus* out) { bwc_read(handle_.get(), ViewOf(key), &bytes, append, out); });
  if (status.code != kBwcOk) return ErrorOf(status, "read", key);
  return bytes;
}

Result<uint64_t> CloudStore::Stat(std::string_view key) {
  BW_TRY(CheckKey(key));
  uint64_t size_bytes = 0;
  const BwcStatus status = Retry([&](BwcStatus* out) { size_bytes = bwc_stat(handle_.get(), ViewOf(key), out); });
  if (status.code != kBwcOk) return ErrorOf(status, "stat", key);
  return size_bytes;
}

Result<ListPage> CloudStore::List(std::string_view prefix, std::string_view start_after, size_t limit) {
  ListPage page;
  const auto add = [](void* context, BwcView key, uint64_t size_bytes) {
    static_cast<ListPage*>(context)->objects.push_back({.key = std::string(TextOf(key)), .size_bytes = size_bytes});
  };
  const auto set_next = [](void* context, BwcView next) {
    static_cast<ListPage*>(context)->next_start_after = TextOf(next);
  };
  const BwcStatus status = Retry([&](BwcStatus* out) {
    bwc_list(handle_.get(), ViewOf(prefix), ViewOf(start_after), limit, &page, add, set_next, out);
  });
  if (status.code != kBwcOk) return ErrorOf(status, "list", prefix);
  return page;
}

Result<void> CloudStore::Delete(std::span<const std::string> keys) {
  if (keys.empty()) return {};
  std::vector<BwcView> left;
  left.reserve(keys.size());
  for (const std::string& key : keys) {
    BW_TRY(CheckKey(key));
    left.push_back(ViewOf(key));
  }
  const BwcStatus status = Retry([&](BwcStatus* out) {
    const auto done = std::make_unique<bool[]>(left.size());
    bwc_delete(handle_.get(), left.data(), done.get(), left.size(), out);
    size_t index = 0;
    std::erase_if(left, [&](const BwcView&) { return done[index++]; });
  });
  if (status.code != kBwcOk) return ErrorOf(status, "delete", keys.size() == 1 ? keys.front() : "");
  return {};
}

StoreTraits CloudStore::traits() const {
  return {.ordered_list = bwc_lists_in_order(handle_.get()), .put_bytes_max = bwc_put_bytes_max(handle_.get())};
}

}  // namespace

Result<std::unique_ptr<ObjectStore>> OpenCloudStore(std::string_view url, const StorageOptions& options, Clock& clock,
                                                    Random& random, RetryPolicy policy) {
  std::vector<BwcOption> pairs;
  pairs.reserve(options.size());
  for (const auto& [name, value] : options) pairs.push_back({.name = ViewOf(name), .value = ViewOf(value)});
  BwcStatus status{};
  std::unique_ptr<BwcHandle, CloseHandle> handle(bwc_open(ViewOf(url), pairs.data(), pairs.size(), &status));
  if (handle == nullptr) return ErrorOf(status, "open", "");
  return std::make_unique<CloudStore>(std::move(handle), clock, random, policy);
}

}  // namespace batchweave
