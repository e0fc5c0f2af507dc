#include "batchweave/store/node_cache_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace batchweave {
namespace {

// Of what a handle got so much is remembered: more than all that it may read ahead, so that a bad copy is known when it is
// asked for again. Some MiB.
constexpr size_t kHadMax = 65536;
// Of streams.
constexpr size_t kToldFoldersMax = 1024;
// Longer than the longest interval at which anybody follows.
constexpr Duration kToldMax = std::chrono::seconds(3);

// Between two looks whether another process has read it.
constexpr Duration kLookFirst = std::chrono::milliseconds(1);
constexpr Duration kLookMax = std::chrono::milliseconds(16);

std::string_view FolderOfStream(std::string_view key) {
  const size_t first = key.find('/');
  const size_t second = first == std::string_view::npos ? first : key.find('/', first + 1);
  return key.substr(0, second);
}

Error NotThere(std::string_view key) {
  return {ErrorCode::kNotFound, fmt::format("no such object, as another process of this host was told: key={}", key)};
}

}  // namespace

NodeCacheStore::NodeCacheStore(std::unique_ptr<ObjectStore> base, std::unique_ptr<NodeCache> cache,
                               std::string identity, NeverChanges never_changes, Clock& clock, Random& random)
    : NodeCacheStore(std::move(base), std::move(cache), std::move(identity), never_changes, clock, random, Waits{}) {}

NodeCacheStore::NodeCacheStore(std::unique_ptr<ObjectStore> base, std::unique_ptr<NodeCache> cache,
                               std::string identity, NeverChanges never_changes, Clock& clock, Random& random,
                               Waits waits)
    : base_(std::move(base)),
      cache_(std::move(cache)),
      identity_(std::move(identity)),
      never_changes_(never_changes),
      clock_(clock),
      random_(random),
      waits_(waits) {}

NodeCacheStats NodeCacheStore::stats() const {
  return {.found = found_, .told_absent = told_absent_, .asked = asked_, .damaged = damaged_, .not_kept = not_kept_};
}

Result<void> NodeCacheStore::Get(std::span<ReadRequest> requests) {
  std::vector<Wanted> wanted;
  wanted.reserve(requests.size());
  std::vector<Wanted*> ours;
  std::vector<Wanted*> others;
  for (ReadRequest& request : requests) {
    BW_TRY(CheckKey(request.key));
    wanted.push_back(Want(request.key, &request));
    switch (Look(wanted.back())) {
      case Answer::kFound: break;
      case Answer::kAbsent: return NotThere(request.key);
      case Answer::kAskStore: ours.push_back(&wanted.back()); break;
      case Answer::kOtherAsks: others.push_back(&wanted.back()); break;
    }
  }
  // Our own first: nobody waits with a lock that somebody may wait for.
  BW_TRY(Fetch(ours));
  for (Wanted* other : others) {
    const Answer answer = Await(*other);
    if (answer == Answer::kAbsent) return NotThere(other->request->key);
    if (answer == Answer::kAskStore) BW_TRY(Fetch({&other, 1}));
  }
  return {};
}

Result<Bytes> NodeCacheStore::Read(std::string_view key) {
  if (!never_changes_(key)) return base_->Read(key);
  BW_TRY(CheckKey(key));
  Wanted wanted = Want(key, nullptr);
  Answer answer = Look(wanted);
  if (answer == Answer::kOtherAsks) answer = Await(wanted);
  if (answer == Answer::kFound) return std::move(wanted.whole);
  Bytes bytes = BW_TRY(base_->Read(key));
  Got(wanted, bytes);
  return bytes;
}

NodeCacheStore::Wanted NodeCacheStore::Want(std::string_view key, ReadRequest* request) {
  Wanted wanted{.request = request};
  wanted.may_be_shared =
      request == nullptr || (!request->buffer.empty() && (request->asks_again || never_changes_(key)));
  if (!wanted.may_be_shared) return wanted;
  const std::string range =
      request == nullptr ? "whole" : fmt::format("{}+{}", request->offset, request->buffer.size());
  wanted.place = {
      .folder = fmt::format("{:016x}", Hash64(AsBytes(fmt::format("{} {}", identity_, FolderOfStream(key))))),
      .step = request == nullptr ? 0 : request->step,
      .id = HashOf128(AsBytes(fmt::format("{} {} {}", identity_, range, key)))};
  if (request == nullptr || !request->asks_again) return wanted;
  {
    const std::lock_guard lock(mutex_);
    const auto told = told_.find(wanted.place.folder);
    if (told != told_.end() && clock_.Now() - told->second.at <= kToldMax) wanted.told_before = told->second.asking;
  }
  // Where this handle knows of none, what comes from now on is new.
  if (!wanted.told_before) {
    const std::optional<NodeCache::Absence> last = cache_->LastAbsence(wanted.place.folder);
    wanted.told_before = last ? last->asking : 0;
  }
  return wanted;
}

NodeCacheStore::Answer NodeCacheStore::Look(Wanted& wanted) {
  if (!wanted.may_be_shared || HadBefore(wanted.place.id)) return Answer::kAskStore;
  if (Take(wanted)) return Answer::kFound;
  if (WasTold(wanted)) return Answer::kAbsent;
  NodeCache::LockTry tried = cache_->TryLock(wanted.place.id);
  if (tried.state == NodeCache::LockState::kTheirs) return Answer::kOtherAsks;
  // Whoever had the lock may have been through just now.
  if (Take(wanted)) return Answer::kFound;
  if (WasTold(wanted)) return Answer::kAbsent;
  if (tried.lock) wanted.lock.emplace(*std::move(tried.lock));
  return Answer::kAskStore;
}

NodeCacheStore::Answer NodeCacheStore::Await(Wanted& wanted) {
  const TimePoint deadline = After(clock_.Now(), waits_.other_max);
  for (Duration wait = kLookFirst; clock_.Now() < deadline; wait = std::min(2 * wait, kLookMax)) {
    clock_.SleepUntil(After(clock_.Now(), wait));
    const Answer answer = Look(wanted);
    if (answer != Answer::kOtherAsks) return answer;
  }
  return Answer::kAskStore;
}

bool NodeCacheStore::Take(Wanted& wanted) {
  const std::optional<NodeCache::Copy> copy = cache_->Find(wanted.place);
  if (!copy) return false;
  ReadRequest* const request = wanted.request;
  if (request == nullptr) wanted.whole.resize(copy->size_bytes);
  const MutableByteView all = request == nullptr ? MutableByteView(wanted.whole) : request->buffer;
  if (copy->size_bytes > all.size()) return false;
  const MutableByteView buffer = all.first(copy->size_bytes);
  ReadObserver* const observer = request == nullptr ? nullptr : request->observer;
  if (!cache_->Read(wanted.place, *copy, buffer, observer)) {
    damaged_ += 1;
    if (observer != nullptr) observer->OnRestart();
    return false;
  }
  if (request != nullptr) request->received_bytes = copy->size_bytes;
  Remember(wanted.place.id);
  found_ += 1;
  return true;
}

// Somebody asked the store since this handle last looked: holds N6.
bool NodeCacheStore::WasTold(const Wanted& wanted) {
  if (!wanted.told_before) return false;
  const std::optional<NodeCache::Absence> last = cache_->LastAbsence(wanted.place.folder);
  if (!last || last->id != wanted.place.id || last->asking == *wanted.told_before) return false;
  NoteAbsence(wanted, last->asking);
  told_absent_ += 1;
  return true;
}

void NodeCacheStore::NoteAbsence(const Wanted& wanted, uint64_t asking) {
  const std::lock_guard lock(mutex_);
  if (told_.size() >= kToldFoldersMax) told_.clear();
  told_[wanted.place.folder] = {.asking = asking, .at = clock_.Now()};
}

Result<void> NodeCacheStore::Fetch(std::span<Wanted* const> wanted) {
  if (wanted.empty()) return {};
  std::vector<ReadRequest> requests;
  requests.reserve(wanted.size());
  for (const Wanted* one : wanted) requests.push_back(*one->request);
  const Result<void> got = base_->Get(requests);
  const Wanted& first = *wanted.front();
  if (FailedWith(got, ErrorCode::kNotFound) && wanted.size() == 1 && first.told_before) {
    asked_ += 1;
    const uint64_t asking = random_.Next();
    cache_->TellAbsence(first.place.folder, {.id = first.place.id, .asking = asking});
    NoteAbsence(first, asking);
  }
  BW_TRY(Result<void>(got));
  for (size_t i = 0; i < wanted.size(); ++i) {
    wanted[i]->request->received_bytes = requests[i].received_bytes;
    Got(*wanted[i], requests[i].buffer.first(requests[i].received_bytes));
    wanted[i]->lock.reset();
  }
  return {};
}

void NodeCacheStore::Got(const Wanted& wanted, ByteView bytes) {
  if (!wanted.may_be_shared) return;
  asked_ += 1;
  Remember(wanted.place.id);
  if (!bytes.empty() && !cache_->Keep(wanted.place, bytes)) not_kept_ += 1;
}

bool NodeCacheStore::HadBefore(const Hash128& id) {
  const std::lock_guard lock(mutex_);
  return had_.contains(id);
}

void NodeCacheStore::Remember(const Hash128& id) {
  const std::lock_guard lock(mutex_);
  if (!had_.insert(id).second) return;
  had_order_.push_back(id);
  if (had_order_.size() <= kHadMax) return;
  had_.erase(had_order_.front());
  had_order_.pop_front();
}

Result<void> NodeCacheStore::Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) {
  return base_->Put(key, pieces, mode);
}

Result<uint64_t> NodeCacheStore::Stat(std::string_view key) { return base_->Stat(key); }

Result<ListPage> NodeCacheStore::List(std::string_view prefix, std::string_view start_after, size_t limit) {
  return base_->List(prefix, start_after, limit);
}

Result<void> NodeCacheStore::Delete(std::span<const std::string> keys) { return base_->Delete(keys); }

StoreTraits NodeCacheStore::traits() const { return base_->traits(); }

}  // namespace batchweave
