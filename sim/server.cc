#include "sim/server.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace batchweave::sim {
namespace {

// Longer than any LIST is under way.
constexpr SimTime kRemovedKept = std::chrono::minutes(10);

}  // namespace

Result<void> Server::Put(const std::string& key, const SharedBytes& bytes, PutMode mode) {
  const auto [object, is_new] =
      objects_.try_emplace(key, Object{.bytes = nullptr, .shown_at = scheduler_.now() + kHiddenMax});
  if (!is_new && mode == PutMode::kCreate) return Error{ErrorCode::kAlreadyExists, "it exists: key=" + key};
  const SharedBytes before = std::exchange(object->second.bytes, bytes);
  for (ServerObserver* observer : observers_) {
    if (is_new) {
      observer->OnCreate(key, bytes);
    } else {
      observer->OnOverwrite(key, before, bytes);
    }
  }
  return {};
}

SharedBytes Server::Read(std::string_view key) {
  Acknowledge(key);
  return Find(key);
}

void Server::Acknowledge(std::string_view key) {
  const auto object = objects_.find(key);
  if (object != objects_.end()) object->second.shown_at = std::min(object->second.shown_at, scheduler_.now());
}

void Server::Delete(const std::string& key) {
  const auto object = objects_.find(key);
  if (object == objects_.end()) return;
  const SharedBytes before = object->second.bytes;
  objects_.erase(object);
  ForgetRemoved();
  removed_[key] = {.at = scheduler_.now(), .size_bytes = before->size()};
  for (ServerObserver* observer : observers_) observer->OnDelete(key, before);
}

void Server::ForgetRemoved() {
  std::erase_if(removed_, [&](const auto& entry) { return entry.second.at + kRemovedKept < scheduler_.now(); });
}

ListPage Server::List(std::string_view prefix, std::string_view start_after, size_t limit, SimTime asked_at,
                      const std::function<bool()>& coin) {
  const bool ascending = ordered_list();
  std::vector<ListedObject> listed;
  const auto is_after = [&](std::string_view key) {
    return start_after.empty() || (ascending ? key > start_after : key < start_after);
  };
  // In the order of the keys, those with a prefix are one range: from it where that ascends, up to it where it descends.
  for (auto it = ascending ? objects_.lower_bound(std::max(prefix, start_after)) : objects_.begin();
       it != objects_.end() && listed.size() <= limit; ++it) {
    const std::string& key = it->first;
    if (ascending && !key.starts_with(prefix)) {
      if (key > prefix) break;
      continue;
    }
    if (!key.starts_with(prefix) || !is_after(key)) continue;
    Object& object = it->second;
    if (object.shown_at > asked_at && !coin()) continue;
    object.shown_at = std::min(object.shown_at, scheduler_.now());
    listed.push_back({.key = key, .size_bytes = object.bytes->size()});
  }
  for (auto it = removed_.lower_bound(prefix); it != removed_.end() && it->first.starts_with(prefix); ++it) {
    if (it->second.at < asked_at || !is_after(it->first) || objects_.contains(it->first)) continue;
    if (coin()) listed.push_back({.key = it->first, .size_bytes = it->second.size_bytes});
  }
  std::ranges::sort(
      listed, [&](const ListedObject& a, const ListedObject& b) { return ascending ? a.key < b.key : b.key < a.key; });
  ListPage page{.objects = std::move(listed), .next_start_after = {}};
  if (page.objects.size() > limit) {
    page.objects.resize(limit);
    page.next_start_after = page.objects.back().key;
  }
  return page;
}

SharedBytes Server::Find(std::string_view key) const {
  const auto object = objects_.find(key);
  return object == objects_.end() ? nullptr : object->second.bytes;
}

void Server::ForEach(const std::function<void(const std::string&, const SharedBytes&)>& visit) const {
  for (const auto& [key, object] : objects_) visit(key, object.bytes);
}

void ReadRange(const Bytes& object, ReadRequest& request) {
  request.received_bytes = 0;
  if (request.offset >= object.size()) return;
  request.received_bytes = std::min<size_t>(request.buffer.size(), object.size() - request.offset);
  std::memcpy(request.buffer.data(), object.data() + request.offset, request.received_bytes);
  if (request.observer != nullptr) request.observer->OnBytes(request.buffer.first(request.received_bytes));
}

Result<void> DirectStore::Put(std::string_view /*key*/, std::span<const ByteView> /*pieces*/, PutMode /*mode*/) {
  return Error{ErrorCode::kDenied, "checkers write nothing"};
}

Result<void> DirectStore::Get(std::span<ReadRequest> requests) {
  for (ReadRequest& request : requests) {
    const SharedBytes object = server_.Find(request.key);
    if (object == nullptr) return Error{ErrorCode::kNotFound, "no such object: key=" + std::string(request.key)};
    ReadRange(*object, request);
  }
  return {};
}

Result<Bytes> DirectStore::Read(std::string_view key) {
  const SharedBytes object = server_.Find(key);
  if (object == nullptr) return Error{ErrorCode::kNotFound, "no such object: key=" + std::string(key)};
  return *object;
}

Result<uint64_t> DirectStore::Stat(std::string_view key) {
  const SharedBytes object = server_.Find(key);
  if (object == nullptr) return Error{ErrorCode::kNotFound, "no such object: key=" + std::string(key)};
  return object->size();
}

Result<ListPage> DirectStore::List(std::string_view prefix, std::string_view /*start_after*/, size_t /*limit*/) {
  ListPage page;
  server_.ForEach([&](const std::string& key, const SharedBytes& bytes) {
    if (key.starts_with(prefix)) page.objects.push_back({.key = key, .size_bytes = bytes->size()});
  });
  return page;
}

Result<void> DirectStore::Delete(std::span<const std::string> /*keys*/) {
  return Error{ErrorCode::kDenied, "checkers delete nothing"};
}

}  // namespace batchweave::sim
