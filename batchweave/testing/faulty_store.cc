#include "batchweave/testing/faulty_store.h"

#include <utility>

namespace batchweave {

void FaultyStore::ApplyDelayed() {
  std::vector<std::function<void()>> effects;
  {
    std::lock_guard lock(mutex_);
    effects = std::exchange(delayed_, {});
  }
  for (const auto& effect : effects) effect();
}

Result<void> FaultyStore::Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) {
  const StoreCall call = CallOf(mode);
  if (!Fails(fault_.filter.Means(call, key))) return base_.Put(key, pieces, mode);
  if (fault_.when == FaultWhen::kAfter) static_cast<void>(base_.Put(key, pieces, mode));
  if (fault_.when == FaultWhen::kLater) {
    Delay([this, key = std::string(key), bytes = Join(pieces), mode] {
      static_cast<void>(PutBytes(base_, key, bytes, mode));
    });
  }
  return FaultOf(call);
}

Result<void> FaultyStore::Get(std::span<ReadRequest> requests) {
  if (!Fails(fault_.filter.Means(kCallGet, requests))) return base_.Get(requests);
  if (fault_.when == FaultWhen::kAfter) static_cast<void>(base_.Get(requests));
  return FaultOf(kCallGet);
}

Result<Bytes> FaultyStore::Read(std::string_view key) {
  return Fails(fault_.filter.Means(kCallRead, key)) ? FaultOf(kCallRead) : base_.Read(key);
}

Result<uint64_t> FaultyStore::Stat(std::string_view key) {
  return Fails(fault_.filter.Means(kCallStat, key)) ? FaultOf(kCallStat) : base_.Stat(key);
}

Result<ListPage> FaultyStore::List(std::string_view prefix, std::string_view start_after, size_t limit) {
  return Fails(fault_.filter.Means(kCallList, prefix)) ? FaultOf(kCallList) : base_.List(prefix, start_after, limit);
}

Result<void> FaultyStore::Delete(std::span<const std::string> keys) {
  if (!Fails(fault_.filter.Means(kCallDelete, keys))) return base_.Delete(keys);
  if (fault_.when == FaultWhen::kAfter) static_cast<void>(base_.Delete(keys));
  if (fault_.when == FaultWhen::kLater) {
    Delay([this, keys = std::vector<std::string>(keys.begin(), keys.end())] { static_cast<void>(base_.Delete(keys)); });
  }
  return FaultOf(kCallDelete);
}

bool FaultyStore::Fails(bool meant) {
  if (!meant) return false;
  const size_t call = ++calls_;
  return fault_.fail_call != 0 && call >= fault_.fail_call && call - fault_.fail_call < fault_.calls;
}

Error FaultyStore::FaultOf(StoreCall call) const {
  const bool may_be_unknown = (call & kCallPut) != 0;
  const bool unknown = fault_.code == ErrorCode::kUnknownOutcome;
  return {unknown && !may_be_unknown ? ErrorCode::kUnavailable : fault_.code, "a fault of the test"};
}

void FaultyStore::Delay(std::function<void()> effect) {
  std::lock_guard lock(mutex_);
  delayed_.push_back(std::move(effect));
}

}  // namespace batchweave
