#include "batchweave/store/retrying_store.h"

#include <utility>
#include <vector>

#include "batchweave/base/mutation.h"

namespace batchweave {
namespace {

// `attempt` until it says something else than "nothing happened", at most as often as `backoff` allows.
template <typename Attempt>
auto Retry(Backoff backoff, Attempt attempt) {
  auto result = attempt();
  while (FailedWith(result, ErrorCode::kUnavailable) && backoff.Wait()) result = attempt();
  return result;
}

}  // namespace

std::vector<ReadRequest*> NotDone(std::span<ReadRequest> requests, bool again) {
  std::vector<ReadRequest*> asked;
  for (ReadRequest& request : requests) {
    if (request.done) continue;
    if (again && request.observer != nullptr) request.observer->OnRestart();
    asked.push_back(&request);
  }
  return asked;
}

RetryingStore::RetryingStore(ObjectStore& base, Clock& clock, Random& random, RetryPolicy policy)
    : base_(base), clock_(clock), random_(random), policy_(policy) {}

Result<void> RetryingStore::Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) {
  return Retry(Backoff(clock_, random_, policy_, kForever), [&] { return base_.Put(key, pieces, mode); });
}

// Of many requests some will fail where a store is throttled: to ask for all of them again would never end.
Result<void> RetryingStore::Get(std::span<ReadRequest> requests) {
  for (ReadRequest& request : requests) request.done = false;
  bool first = true;
  return Retry(Backoff(clock_, random_, policy_, kForever), [&]() -> Result<void> {
    if (std::exchange(first, false)) return base_.Get(requests);
    const std::vector<ReadRequest*> asked = NotDone(requests, /*again=*/true);
    std::vector<ReadRequest> again;
    for (const ReadRequest* request : asked) again.push_back(*request);
    const Result<void> got = base_.Get(again);
    for (size_t i = 0; i < again.size(); ++i) {
      asked[i]->received_bytes = again[i].received_bytes;
      asked[i]->done = again[i].done;
    }
    return got;
  });
}

Result<Bytes> RetryingStore::Read(std::string_view key) {
  return Retry(Backoff(clock_, random_, policy_, kForever), [&] { return base_.Read(key); });
}

Result<uint64_t> RetryingStore::Stat(std::string_view key) {
  return Retry(Backoff(clock_, random_, policy_, kForever), [&] { return base_.Stat(key); });
}

Result<ListPage> RetryingStore::List(std::string_view prefix, std::string_view start_after, size_t limit) {
  return Retry(Backoff(clock_, random_, policy_, kForever), [&] { return base_.List(prefix, start_after, limit); });
}

Result<void> RetryingStore::Delete(std::span<const std::string> keys) {
  return Retry(Backoff(clock_, random_, policy_, kForever), [&] { return base_.Delete(keys); });
}

StoreTraits RetryingStore::traits() const { return base_.traits(); }

Result<void> PutUnique(Env env, std::string_view key, std::span<const ByteView> pieces, TimePoint deadline,
                       RetryPolicy policy) {
  Backoff backoff(env.clock, env.random, policy, deadline);
  bool unknown = false;  // An earlier try may have been written, or may still be.
  for (;;) {
    Result<void> put = env.store.Put(key, pieces, PutMode::kCreate);
    if (FailedWith(put, ErrorCode::kAlreadyExists)) return {};
    if (BW_MUTATION(kUnknownUploadTaken) && FailedWith(put, ErrorCode::kUnknownOutcome)) return {};
    unknown = unknown || FailedWith(put, ErrorCode::kUnknownOutcome);
    const bool try_again = FailedWith(put, ErrorCode::kUnavailable) || FailedWith(put, ErrorCode::kUnknownOutcome);
    if (try_again && backoff.Wait()) continue;
    if (try_again && unknown) return Error{ErrorCode::kUnknownOutcome, put.error().message};
    return put;
  }
}

}  // namespace batchweave
