#include "batchweave/store/memory_store.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>

#include "batchweave/base/check.h"

namespace batchweave {
namespace {

void CopyRange(const Bytes& object, ReadRequest& request) {
  const ByteView all(object);
  const ByteView range = request.offset < all.size() ? all.subspan(request.offset) : ByteView();
  request.received_bytes = std::min(range.size(), request.buffer.size());
  for (size_t done = 0; done < request.received_bytes; done += kReadBlockBytes) {
    const size_t size = std::min(kReadBlockBytes, request.received_bytes - done);
    std::memcpy(request.buffer.data() + done, range.data() + done, size);
    if (request.observer != nullptr) request.observer->OnBytes(request.buffer.subspan(done, size));
  }
}

}  // namespace

MemoryStore::MemoryStore(MemoryStoreOptions options) : options_(options), objects_(Order{options.ordered_list}) {}

Result<void> MemoryStore::Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) {
  BW_TRY(CheckKey(key));
  auto object = std::make_shared<const Bytes>(Join(pieces));
  std::unique_lock lock(mutex_);
  if (mode == PutMode::kCreate && objects_.contains(key)) {
    return Error{ErrorCode::kAlreadyExists, "object exists: key=" + std::string(key)};
  }
  objects_.insert_or_assign(std::string(key), std::move(object));
  return {};
}

Result<void> MemoryStore::Get(std::span<ReadRequest> requests) {
  for (ReadRequest& request : requests) CopyRange(*BW_TRY(Find(request.key)), request);
  return {};
}

Result<Bytes> MemoryStore::Read(std::string_view key) { return Bytes(*BW_TRY(Find(key))); }

Result<uint64_t> MemoryStore::Stat(std::string_view key) { return uint64_t{BW_TRY(Find(key))->size()}; }

Result<ListPage> MemoryStore::List(std::string_view prefix, std::string_view start_after, size_t limit) {
  BW_CHECK(limit >= 1);
  std::shared_lock lock(mutex_);
  ListPage page;
  const bool seek_prefix = options_.ordered_list && start_after < prefix;
  auto it = seek_prefix ? objects_.lower_bound(prefix)
                        : (start_after.empty() ? objects_.begin() : objects_.upper_bound(start_after));
  for (; it != objects_.end(); ++it) {
    if (!it->first.starts_with(prefix)) {
      if (options_.ordered_list) break;
      continue;
    }
    if (page.objects.size() == limit) {
      page.next_start_after = page.objects.back().key;
      break;
    }
    page.objects.push_back({it->first, it->second->size()});
  }
  return page;
}

Result<void> MemoryStore::Delete(std::span<const std::string> keys) {
  for (const std::string& key : keys) BW_TRY(CheckKey(key));
  std::unique_lock lock(mutex_);
  for (const std::string& key : keys) objects_.erase(key);
  return {};
}

StoreTraits MemoryStore::traits() const {
  return {.ordered_list = options_.ordered_list, .put_bytes_max = std::numeric_limits<int64_t>::max()};
}

Result<MemoryStore::Object> MemoryStore::Find(std::string_view key) const {
  BW_TRY(CheckKey(key));
  std::shared_lock lock(mutex_);
  const auto it = objects_.find(key);
  if (it == objects_.end()) return Error{ErrorCode::kNotFound, "no such object: key=" + std::string(key)};
  return it->second;
}

}  // namespace batchweave
