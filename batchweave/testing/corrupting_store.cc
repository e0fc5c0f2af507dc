#include "batchweave/testing/corrupting_store.h"

#include <algorithm>
#include <vector>

namespace batchweave {

Result<void> CorruptingStore::Get(std::span<ReadRequest> requests) {
  std::vector<ReadRequest> inner(requests.begin(), requests.end());
  for (ReadRequest& request : inner) request.observer = nullptr;
  BW_TRY(base().Get(inner));
  for (size_t i = 0; i < requests.size(); ++i) {
    ReadRequest& request = requests[i];
    request.received_bytes = Corrupt(kCallGet, request.key, request.buffer.first(inner[i].received_bytes));
    if (request.observer == nullptr) continue;
    for (size_t at = 0; at < request.received_bytes; at += kReadBlockBytes) {
      request.observer->OnBytes(request.buffer.subspan(at, std::min(kReadBlockBytes, request.received_bytes - at)));
    }
  }
  return {};
}

Result<Bytes> CorruptingStore::Read(std::string_view key) {
  Bytes bytes = BW_TRY(base().Read(key));
  bytes.resize(Corrupt(kCallRead, key, bytes));
  return bytes;
}

size_t CorruptingStore::Corrupt(StoreCall call, std::string_view key, MutableByteView bytes) {
  if (bytes.empty() || !corruption_.filter.Means(call, key)) return bytes.size();
  // Counted only up to the limit, so that corrupted() is exact.
  for (size_t before = corrupted_;;) {
    if (before >= corruption_.reads) return bytes.size();
    if (corrupted_.compare_exchange_weak(before, before + 1)) break;
  }
  switch (corruption_.kind) {
    case Corruption::Kind::kShort: return bytes.size() - 1;
    case Corruption::Kind::kEmpty: return 0;
    case Corruption::Kind::kFlip:
      if (corruption_.position < bytes.size()) bytes[corruption_.position] ^= std::byte{1};
      return bytes.size();
  }
  return bytes.size();
}

}  // namespace batchweave
