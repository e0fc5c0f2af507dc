#include "batchweave/store/cloud/cloud_store.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "batchweave/store/cloud/cloud_call.h"
#include "batchweave/store/cloud/put_in_parts.h"
#include "batchweave/store/retrying_store.h"

namespace batchweave {
namespace {

struct CloseHandle {
  void operator()(BwcHandle* handle) const { bwc_close(handle); }
};

class OpenedCloudStore final : public CloudStore {
 public:
  OpenedCloudStore(std::unique_ptr<BwcHandle, CloseHandle> handle, CloudRetry retry)
      : handle_(std::move(handle)), retry_(retry) {}

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override;
  Result<void> Get(std::span<ReadRequest> requests) override;
  Result<Bytes> Read(std::string_view key) override;
  Result<uint64_t> Stat(std::string_view key) override;
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override;
  Result<void> Delete(std::span<const std::string> keys) override;
  StoreTraits traits() const override;
  Result<std::vector<UnfinishedUpload>> ListUnfinished(std::string_view prefix) override;
  Result<void> AbortUnfinished(const UnfinishedUpload& upload) override;
  CloudReads reads() const override;

 private:
  const std::unique_ptr<BwcHandle, CloseHandle> handle_;
  const CloudRetry retry_;
};

Result<void> OpenedCloudStore::Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) {
  BW_TRY(CheckKey(key));
  const uint64_t size_bytes = std::transform_reduce(pieces.begin(), pieces.end(), uint64_t{0}, std::plus<>(),
                                                    [](ByteView piece) { return piece.size(); });
  const uint64_t part_bytes = bwc_part_bytes(handle_.get(), size_bytes);
  if (part_bytes > 0) return PutInParts(*handle_, retry_, key, pieces, mode, part_bytes);
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

Result<void> OpenedCloudStore::Get(std::span<ReadRequest> requests) {
  if (requests.empty()) return {};
  for (ReadRequest& request : requests) {
    BW_TRY(CheckKey(request.key));
    request.done = false;
  }
  bool again = false;
  const BwcStatus status = retry_.Run([&](BwcStatus* out) {
    const std::vector<ReadRequest*> asked = NotDone(requests, std::exchange(again, true));
    std::vector<BwcRead> reads;
    for (const ReadRequest* request : asked) {
      reads.push_back({.key = ViewOf(request->key),
                       .offset = request->offset,
                       .buffer = request->buffer.data(),
                       .size = request->buffer.size(),
                       .observer = request->observer,
                       .on_bytes = request->observer == nullptr ? nullptr : TellObserver,
                       .received = 0,
                       .done = false});
    }
    bwc_get(handle_.get(), reads.data(), reads.size(), out);
    for (size_t i = 0; i < reads.size(); ++i) {
      asked[i]->received_bytes = reads[i].received;
      asked[i]->done = reads[i].done;
    }
  });
  if (status.code != kBwcOk) return ErrorOf(status, "read", requests.size() == 1 ? requests.front().key : "");
  return {};
}

Result<Bytes> OpenedCloudStore::Read(std::string_view key) {
  BW_TRY(CheckKey(key));
  Bytes bytes;
  const auto append = [](void* context, const void* data, size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    auto& into = *static_cast<Bytes*>(context);
    into.insert(into.end(), begin, begin + size);
  };
  const BwcStatus status =
      retry_.Run([&](BwcStatus* out) { bwc_read(handle_.get(), ViewOf(key), &bytes, append, out); });
  if (status.code != kBwcOk) return ErrorOf(status, "read", key);
  return bytes;
}

Result<uint64_t> OpenedCloudStore::Stat(std::string_view key) {
  BW_TRY(CheckKey(key));
  uint64_t size_bytes = 0;
  const BwcStatus status = retry_.Run([&](BwcStatus* out) { size_bytes = bwc_stat(handle_.get(), ViewOf(key), out); });
  if (status.code != kBwcOk) return ErrorOf(status, "stat", key);
  return size_bytes;
}

Result<ListPage> OpenedCloudStore::List(std::string_view prefix, std::string_view start_after, size_t limit) {
  ListPage page;
  const auto add = [](void* context, BwcView key, uint64_t size_bytes) {
    static_cast<ListPage*>(context)->objects.push_back({.key = std::string(TextOf(key)), .size_bytes = size_bytes});
  };
  const auto set_next = [](void* context, BwcView next) {
    static_cast<ListPage*>(context)->next_start_after = TextOf(next);
  };
  const BwcStatus status = retry_.Run([&](BwcStatus* out) {
    bwc_list(handle_.get(), ViewOf(prefix), ViewOf(start_after), limit, &page, add, set_next, out);
  });
  if (status.code != kBwcOk) return ErrorOf(status, "list", prefix);
  return page;
}

Result<void> OpenedCloudStore::Delete(std::span<const std::string> keys) {
  if (keys.empty()) return {};
  std::vector<BwcView> left;
  left.reserve(keys.size());
  std::set<std::string_view> named;  // Twice in one request MinIO does not understand.
  for (const std::string& key : keys) {
    BW_TRY(CheckKey(key));
    if (named.insert(key).second) left.push_back(ViewOf(key));
  }
  const BwcStatus status = retry_.Run([&](BwcStatus* out) {
    const auto done = std::make_unique<bool[]>(left.size());
    bwc_delete(handle_.get(), left.data(), done.get(), left.size(), out);
    size_t index = 0;
    std::erase_if(left, [&](const BwcView&) { return done[index++]; });
  });
  if (status.code != kBwcOk) return ErrorOf(status, "delete", keys.size() == 1 ? keys.front() : "");
  return {};
}

StoreTraits OpenedCloudStore::traits() const {
  return {.ordered_list = bwc_lists_in_order(handle_.get()), .put_bytes_max = bwc_put_bytes_max(handle_.get())};
}

Result<std::vector<UnfinishedUpload>> OpenedCloudStore::ListUnfinished(std::string_view prefix) {
  std::vector<UnfinishedUpload> uploads;
  const auto add = [](void* context, BwcView key, BwcView id) {
    static_cast<std::vector<UnfinishedUpload>*>(context)->push_back(
        {.key = std::string(TextOf(key)), .id = std::string(TextOf(id))});
  };
  const BwcStatus status =
      retry_.Run([&](BwcStatus* out) { bwc_unfinished_list(handle_.get(), ViewOf(prefix), &uploads, add, out); });
  if (status.code != kBwcOk) return ErrorOf(status, "list of unfinished uploads", prefix);
  return uploads;
}

Result<void> OpenedCloudStore::AbortUnfinished(const UnfinishedUpload& upload) {
  const BwcStatus status = retry_.Run(
      [&](BwcStatus* out) { bwc_unfinished_abort(handle_.get(), ViewOf(upload.key), ViewOf(upload.id), out); });
  if (status.code != kBwcOk) return ErrorOf(status, "abort of an upload", upload.key);
  return {};
}

CloudReads OpenedCloudStore::reads() const {
  CloudReads reads;
  reads.ranges = bwc_reads(handle_.get(), &reads.hedged);
  return reads;
}

}  // namespace

Result<std::unique_ptr<CloudStore>> OpenCloudStore(std::string_view url, const StorageOptions& options, Clock& clock,
                                                   Random& random, RetryPolicy policy) {
  std::vector<BwcOption> pairs;
  pairs.reserve(options.size());
  for (const auto& [name, value] : options) pairs.push_back({.name = ViewOf(name), .value = ViewOf(value)});
  BwcStatus status{};
  std::unique_ptr<BwcHandle, CloseHandle> handle(bwc_open(ViewOf(url), pairs.data(), pairs.size(), &status));
  if (handle == nullptr) return ErrorOf(status, "open", "");
  return std::make_unique<OpenedCloudStore>(std::move(handle), CloudRetry(clock, random, policy));
}

}  // namespace batchweave
