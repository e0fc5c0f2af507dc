#include "sim/scale/lab_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace batchweave::sim {
namespace {

// What one LIST returns at most: S3's and Google's page.
constexpr size_t kPageObjects = 1000;

// Reads of one call that are under way at once: READS_AT_ONCE of store/cloud/src/read.rs.
constexpr size_t kConnections = 256;

// As store/cloud/src/hedge.rs: who has made so many reads knows how long they take, and asks a second time where one
// takes longer than 95 in a hundred do; at most one of so many.
constexpr uint64_t kReadsBeforeHedges = 64;
constexpr uint64_t kReadsPerHedge = 20;
constexpr Duration kHedgeDelayMin = std::chrono::milliseconds(20);
constexpr double kQuantile95 = 1.645;  // Of the standard normal distribution.

Error NoObject(std::string_view key) { return {ErrorCode::kNotFound, fmt::format("no such object: key={}", key)}; }

}  // namespace

Result<void> LabServer::Put(const std::string& key, const SharedBytes& bytes, PutMode mode) {
  const auto [object, is_new] = objects_.try_emplace(key, bytes);
  if (!is_new && mode == PutMode::kCreate) return Error{ErrorCode::kAlreadyExists, "it exists: key=" + key};
  object->second = bytes;
  if (is_new && on_create_) on_create_(key, bytes);
  return {};
}

SharedBytes LabServer::Find(std::string_view key) const {
  const auto object = objects_.find(key);
  return object == objects_.end() ? nullptr : object->second;
}

ListPage LabServer::List(std::string_view prefix, std::string_view start_after, size_t limit) const {
  ListPage page;
  auto object = start_after.empty() ? objects_.lower_bound(prefix) : objects_.upper_bound(start_after);
  for (; object != objects_.end() && object->first.starts_with(prefix); ++object) {
    if (page.objects.size() == limit) {
      page.next_start_after = page.objects.back().key;
      break;
    }
    page.objects.push_back({.key = object->first, .size_bytes = object->second->size()});
  }
  return page;
}

Fate LabServer::Ask(StoreCall call, std::string_view key, uint64_t size_bytes) {
  switch (call) {
    case kCallCreate:
    case kCallOverwrite:
      requests_.puts += 1;
      if (key.find("/manifest/") != std::string_view::npos) requests_.manifest_puts += 1;
      if (key.find("/intent/") != std::string_view::npos) requests_.intent_puts += 1;
      break;
    case kCallList: requests_.lists += 1; break;
    case kCallDelete: requests_.deletes += 1; break;
    default: requests_.gets += 1;
  }
  return network_.FateOf(call, key, size_bytes);
}

Result<void> LabClient::Send(const Fate& fate, std::string_view subject, const std::function<void()>& effect) {
  Scheduler& scheduler = server_.scheduler();
  const SimTime sent = scheduler.now();
  if (process_.dead()) {
    process_.YieldDead();
    process_.clock().Leap(std::chrono::seconds(1));
    return Error{ErrorCode::kUnavailable, fmt::format("the process is dead: {}", subject)};
  }
  // A client that is killed or woken meanwhile does not take its request back.
  if (fate.applied_after) scheduler.At(sent + *fate.applied_after, effect);
  while (scheduler.now() < sent + fate.answered_after && !process_.dead()) {
    scheduler.SuspendUntil(sent + fate.answered_after);
  }
  if (process_.dead()) return Error{ErrorCode::kUnavailable, fmt::format("the process died: {}", subject)};
  if (fate.failure) return Error{*fate.failure, fmt::format("the store refused: {}", subject)};
  return {};
}

// Effects may come after their client has gone: what they answer is shared with it.
Result<void> LabClient::Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) {
  const auto bytes = std::make_shared<const Bytes>(Join(pieces));
  const Fate fate = server_.Ask(CallOf(mode), key, bytes->size());
  auto answer = std::make_shared<Result<void>>();
  BW_TRY(Send(fate, key, [&server = server_, name = std::string(key), bytes, mode, answer] {
    *answer = server.Put(name, bytes, mode);
  }));
  return *answer;
}

// Of one read: what becomes of it, or of its hedge where that is sooner.
Fate LabClient::Hedged(std::string_view key, uint64_t size_bytes) {
  Fate fate = server_.Ask(kCallGet, key, size_bytes);
  reads_ += 1;
  const Latency& get = server_.network().profile().get;
  const auto slow_after = std::chrono::duration_cast<Duration>(get.median * std::exp(kQuantile95 * get.spread));
  const Duration delay = std::max(kHedgeDelayMin, slow_after);
  if (reads_ < kReadsBeforeHedges || fate.answered_after <= delay) return fate;
  if ((hedged_ + 1) * kReadsPerHedge > reads_) return fate;
  hedged_ += 1;
  const Fate second = server_.Ask(kCallGet, key, size_bytes);
  if (second.failure || delay + second.answered_after >= fate.answered_after) return fate;
  fate = second;
  fate.answered_after += delay;
  return fate;
}

Result<void> LabClient::Get(std::span<ReadRequest> requests) {
  // Each connection takes the next request when it is done with one: the slowest of them is waited for.
  std::vector<Duration> busy(std::min(requests.size(), kConnections));
  std::optional<ErrorCode> failure;
  for (ReadRequest& request : requests) {
    const Fate fate = Hedged(request.key, request.buffer.size());
    if (fate.failure) failure = fate.failure;
    request.done = !fate.failure;
    *std::ranges::min_element(busy) += fate.answered_after;
  }
  const Duration slowest = busy.empty() ? Duration{} : *std::ranges::max_element(busy);
  BW_TRY(Send({.answered_after = slowest}, "ranges", {}));
  for (ReadRequest& request : requests) {
    if (!request.done) continue;
    const SharedBytes object = server_.Find(request.key);
    request.done = object != nullptr;
    if (object == nullptr) return NoObject(request.key);
    ReadRange(*object, request);
  }
  if (failure) return Error{*failure, "the store refused some of the ranges"};
  return {};
}

Result<Bytes> LabClient::Read(std::string_view key) {
  const SharedBytes size = server_.Find(key);
  const Fate fate = server_.Ask(kCallRead, key, size == nullptr ? 0 : size->size());
  auto object = std::make_shared<SharedBytes>();
  BW_TRY(Send(fate, key, [&server = server_, name = std::string(key), object] { *object = server.Find(name); }));
  if (*object == nullptr) return NoObject(key);
  return **object;
}

Result<uint64_t> LabClient::Stat(std::string_view key) {
  const Fate fate = server_.Ask(kCallStat, key, 0);
  auto object = std::make_shared<SharedBytes>();
  BW_TRY(Send(fate, key, [&server = server_, name = std::string(key), object] { *object = server.Find(name); }));
  if (*object == nullptr) return NoObject(key);
  return (*object)->size();
}

Result<ListPage> LabClient::List(std::string_view prefix, std::string_view start_after, size_t limit) {
  const Fate fate = server_.Ask(kCallList, prefix, 0);
  auto page = std::make_shared<ListPage>();
  BW_TRY(Send(fate, prefix,
              [&server = server_, page, limit, part = std::string(prefix), start = std::string(start_after)] {
                *page = server.List(part, start, std::min(limit, kPageObjects));
              }));
  return std::move(*page);
}

Result<void> LabClient::Delete(std::span<const std::string> keys) {
  // One request of many keys, as S3 takes them; it is billed as one.
  const Fate fate = server_.Ask(kCallDelete, keys.front(), 0);
  return Send(fate, keys.front(), [&server = server_, gone = std::vector<std::string>(keys.begin(), keys.end())] {
    for (const std::string& key : gone) server.objects().erase(key);
  });
}

Result<void> LabBackdoor::Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) {
  return server_.Put(std::string(key), std::make_shared<const Bytes>(Join(pieces)), mode);
}

Result<void> LabBackdoor::Get(std::span<ReadRequest> requests) {
  for (ReadRequest& request : requests) {
    const SharedBytes object = server_.Find(request.key);
    if (object == nullptr) return NoObject(request.key);
    ReadRange(*object, request);
  }
  return {};
}

Result<Bytes> LabBackdoor::Read(std::string_view key) {
  const SharedBytes object = server_.Find(key);
  if (object == nullptr) return NoObject(key);
  return *object;
}

Result<uint64_t> LabBackdoor::Stat(std::string_view key) {
  const SharedBytes object = server_.Find(key);
  if (object == nullptr) return NoObject(key);
  return object->size();
}

Result<ListPage> LabBackdoor::List(std::string_view prefix, std::string_view start_after, size_t limit) {
  return server_.List(prefix, start_after, limit);
}

Result<void> LabBackdoor::Delete(std::span<const std::string> keys) {
  for (const std::string& key : keys) server_.objects().erase(key);
  return {};
}

}  // namespace batchweave::sim
