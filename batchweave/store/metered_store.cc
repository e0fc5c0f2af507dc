#include "batchweave/store/metered_store.h"

#include <utility>

namespace batchweave {

StoreUsage operator-(const StoreUsage& after, const StoreUsage& before) {
  return {.range_gets = after.range_gets - before.range_gets,
          .reads = after.reads - before.reads,
          .creates = after.creates - before.creates,
          .overwrites = after.overwrites - before.overwrites,
          .stats = after.stats - before.stats,
          .lists = after.lists - before.lists,
          .deletes = after.deletes - before.deletes,
          .deleted_keys = after.deleted_keys - before.deleted_keys,
          .bytes_read = after.bytes_read - before.bytes_read,
          .bytes_written = after.bytes_written - before.bytes_written};
}

MeteredStore::MeteredStore(ObjectStore& base, std::string key_part) : base_(base), key_part_(std::move(key_part)) {}

StoreUsage MeteredStore::usage() const {
  return {.range_gets = range_gets_,
          .reads = reads_,
          .creates = creates_,
          .overwrites = overwrites_,
          .stats = stats_,
          .lists = lists_,
          .deletes = deletes_,
          .deleted_keys = deleted_keys_,
          .bytes_read = bytes_read_,
          .bytes_written = bytes_written_};
}

Result<void> MeteredStore::Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) {
  Count(mode == PutMode::kCreate ? creates_ : overwrites_, key);
  BW_TRY(base_.Put(key, pieces, mode));
  Count(bytes_written_, key, TotalSize(pieces));
  return {};
}

Result<void> MeteredStore::Get(std::span<ReadRequest> requests) {
  for (const ReadRequest& request : requests) Count(range_gets_, request.key);
  BW_TRY(base_.Get(requests));
  for (const ReadRequest& request : requests) Count(bytes_read_, request.key, request.received_bytes);
  return {};
}

Result<Bytes> MeteredStore::Read(std::string_view key) {
  Count(reads_, key);
  Bytes bytes = BW_TRY(base_.Read(key));
  Count(bytes_read_, key, bytes.size());
  return bytes;
}

Result<uint64_t> MeteredStore::Stat(std::string_view key) {
  Count(stats_, key);
  return base_.Stat(key);
}

Result<ListPage> MeteredStore::List(std::string_view prefix, std::string_view start_after, size_t limit) {
  Count(lists_, prefix);
  return base_.List(prefix, start_after, limit);
}

Result<void> MeteredStore::Delete(std::span<const std::string> keys) {
  uint64_t counted = 0;
  for (const std::string& key : keys) counted += key.find(key_part_) != std::string::npos ? 1 : 0;
  deleted_keys_ += counted;
  deletes_ += counted > 0 ? 1 : 0;
  return base_.Delete(keys);
}

StoreTraits MeteredStore::traits() const { return base_.traits(); }

void MeteredStore::Count(Counter& counter, std::string_view key, uint64_t by) {
  if (key.find(key_part_) != std::string_view::npos) counter += by;
}

}  // namespace batchweave
