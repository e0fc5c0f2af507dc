#include "batchweave/testing/gated_store.h"

#include <utility>

namespace batchweave {

void GatedStore::Close(CallFilter filter, Hold hold) {
  std::lock_guard lock(mutex_);
  closed_ = true;
  may_go_ = 0;
  filter_ = std::move(filter);
  hold_ = hold;
}

void GatedStore::AwaitHeld(size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return held_ >= count; });
}

void GatedStore::Release(size_t count) {
  std::lock_guard lock(mutex_);
  may_go_ += count;
  changed_.notify_all();
}

void GatedStore::Open() {
  std::lock_guard lock(mutex_);
  closed_ = false;
  changed_.notify_all();
}

void GatedStore::Stop(std::unique_lock<std::mutex>& lock) {
  ++held_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return !closed_ || may_go_ > 0; });
  if (may_go_ > 0) --may_go_;
  --held_;
}

template <typename Names, typename Effect>
auto GatedStore::Pass(StoreCall call, const Names& names, Effect effect) {
  std::unique_lock lock(mutex_);
  // Decided at the start: a call that began before the gate was closed goes through.
  const bool meant = closed_ && filter_.Means(call, names);
  const Hold hold = hold_;
  if (meant && hold == Hold::kBeforeEffect) Stop(lock);
  lock.unlock();
  auto result = effect();
  lock.lock();
  if (meant && hold == Hold::kAfterEffect) Stop(lock);
  return result;
}

Result<void> GatedStore::Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) {
  return Pass(CallOf(mode), key, [&] { return base_.Put(key, pieces, mode); });
}

Result<void> GatedStore::Get(std::span<ReadRequest> requests) {
  return Pass(kCallGet, std::span<const ReadRequest>(requests), [&] { return base_.Get(requests); });
}

Result<Bytes> GatedStore::Read(std::string_view key) {
  return Pass(kCallRead, key, [&] { return base_.Read(key); });
}

Result<uint64_t> GatedStore::Stat(std::string_view key) {
  return Pass(kCallStat, key, [&] { return base_.Stat(key); });
}

Result<ListPage> GatedStore::List(std::string_view prefix, std::string_view start_after, size_t limit) {
  return Pass(kCallList, prefix, [&] { return base_.List(prefix, start_after, limit); });
}

Result<void> GatedStore::Delete(std::span<const std::string> keys) {
  return Pass(kCallDelete, keys, [&] { return base_.Delete(keys); });
}

}  // namespace batchweave
