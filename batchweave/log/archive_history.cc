#include "batchweave/log/archive_history.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "batchweave/base/fault_point.h"
#include "batchweave/base/mutation.h"
#include "batchweave/format/archive.h"
#include "batchweave/log/history.h"
#include "batchweave/store/retrying_store.h"

namespace batchweave {
namespace {

// What FlatBuffers adds to the variable fields of an entry, a part, a row: measured on single-part entries without
// cursor, and checked by a test.
constexpr uint64_t kEntryBytes = 44;
constexpr uint64_t kPartBytes = 44;
constexpr uint64_t kRowBytes = 88;

uint64_t EntryBytes(const Entry& entry) {
  uint64_t bytes = kEntryBytes + entry.cursor.size() + entry.metadata.size();
  for (const Part& part : entry.parts) bytes += kPartBytes + part.slice_bytes.size() * 8;
  return bytes;
}

uint64_t RowBytes(const ProducerRow& row) {
  return kRowBytes + row.producer.size() + (row.cursor ? row.cursor->size() : 0);
}

bool IsDue(uint64_t bytes, uint64_t low, uint64_t high, Random& random) {
  if (bytes <= low) return false;
  return bytes >= high || NextUnit(random) < static_cast<double>(bytes - low) / static_cast<double>(high - low);
}

// The objects that a version needs written before it is committed. They are named by their nonces and hashes, so that none
// waits for another: written one after the other they would lengthen the commits of thousands of producers.
class NewObjects {
 public:
  explicit NewObjects(ManifestLog& log) : log_(log) {}

  // Completes `ref`, which then names `object`.
  ArchiveRef Add(ArchiveRef ref, Bytes object) {
    ref.nonce = log_.env().random.Next();
    ref.object_bytes = object.size();
    ref.hash = HashOf128(object);
    objects_.push_back({.key = log_.keys().Archive(ref), .bytes = std::move(object)});
    return ref;
  }

  size_t count() const { return objects_.size(); }

  // All at once, the first on this thread.
  Result<void> Write(TimePoint deadline) {
    if (objects_.empty()) return {};
    std::vector<std::unique_ptr<Thread>> threads;
    for (size_t i = 1; i < objects_.size(); ++i) {
      threads.push_back(log_.env().threads.Start("bw-archive", [this, i, deadline] { Write(objects_[i], deadline); }));
    }
    Write(objects_.front(), deadline);
    threads.clear();  // Joins them.
    for (const Object& object : objects_) BW_TRY(object.written);
    BW_FAULT_POINT("archive.written");
    return {};
  }

 private:
  struct Object {
    std::string key;
    Bytes bytes;
    Result<void> written{};
  };

  void Write(Object& object, TimePoint deadline) {
    const ByteView piece = object.bytes;
    object.written = PutUnique(log_.env(), object.key, {&piece, 1}, deadline);
  }

  ManifestLog& log_;
  std::vector<Object> objects_;
};

// The oldest entries, all but the newest `bytes_kept`.
size_t EntriesToArchive(const std::vector<Entry>& tail, uint64_t bytes_kept) {
  size_t kept = 0;
  for (uint64_t bytes = 0; kept < tail.size(); ++kept) {
    bytes += EntryBytes(tail[tail.size() - 1 - kept]);
    if (bytes > bytes_kept) break;
  }
  return tail.size() - kept;
}

// For kArchiveOfALostVersion: what was archived first of what was last, by whoever and for whatever version. The
// mutants' simulator is one thread.
std::pair<StreamId, ArchiveRef>& LastArchived() {
  static std::pair<StreamId, ArchiveRef> last;
  return last;
}

// It is named by `next`, where it begins with the same step.
bool NamesWhatIsThere(Manifest& next) {
  const auto& [stream_id, last] = LastArchived();
  if (stream_id != next.stream_id || last.end <= last.first) return false;
  if (last.first != next.tail_first() || last.end > next.next_step) return false;
  next.archives.push_back(last);
  next.tail.erase(next.tail.begin(),
                  next.tail.begin() + static_cast<std::ptrdiff_t>(last.end.value - last.first.value));
  return true;
}

// The `count` oldest entries of the tail, as one object.
void ArchiveOldest(NewObjects& objects, Manifest& next, size_t count) {
  if (BW_MUTATION(kArchiveOfALostVersion) && NamesWhatIsThere(next)) return;
  const auto end = next.tail.begin() + static_cast<std::ptrdiff_t>(count);
  ArchivedEntries archived{
      .stream_id = next.stream_id, .first = next.tail_first(), .entries = {next.tail.begin(), end}};
  ArchiveRef ref{.kind = ArchiveRef::Kind::kEntries,
                 .version = next.version,
                 .first = archived.first,
                 .end = archived.first + count};
  for (const Entry& entry : archived.entries) {
    for (const Part& part : entry.parts) ref.payload_bytes += part.object_bytes;
  }
  if (BW_MUTATION(kArchiveDropsAnEntry)) archived.entries.pop_back();
  next.archives.push_back(objects.Add(ref, EncodeArchivedEntries(archived)));
  if (BW_MUTATION(kArchiveOfALostVersion) && objects.count() == 1)
    LastArchived() = {next.stream_id, next.archives.back()};
  next.tail.erase(next.tail.begin(), end);
}

// Replaces the newest refs, where kIndexChildrenMax of them are of one level, by one index of them; and so on upwards.
void FoldArchives(NewObjects& objects, Manifest& next) {
  while (next.archives.size() >= kIndexChildrenMax) {
    const auto first_child = next.archives.end() - kIndexChildrenMax;
    if (first_child->level != next.archives.back().level) return;
    ArchiveIndex index{.stream_id = next.stream_id, .children = {first_child, next.archives.end()}};
    ArchiveRef ref{.kind = ArchiveRef::Kind::kIndex,
                   .version = next.version,
                   .first = index.children.front().first,
                   .end = index.children.back().end,
                   .level = static_cast<uint8_t>(index.children.front().level + 1)};
    for (const ArchiveRef& child : index.children) ref.payload_bytes += child.payload_bytes;
    if (BW_MUTATION(kIndexLacksARef)) index.children.pop_back();
    ref = objects.Add(ref, EncodeArchiveIndex(index));
    next.archives.erase(first_child, next.archives.end());
    next.archives.push_back(ref);
  }
}

// In objects of about equal size: who wants one step reads the whole object that has it.
void ArchiveTail(NewObjects& objects, Manifest& next, uint64_t bytes_kept, uint64_t object_bytes_max) {
  size_t count = EntriesToArchive(next.tail, bytes_kept);
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; ++i) bytes += EntryBytes(next.tail[i]);
  for (uint64_t left = std::min<uint64_t>((bytes + object_bytes_max - 1) / object_bytes_max, count); left > 0; --left) {
    const size_t entries = count / left;
    ArchiveOldest(objects, next, entries);
    FoldArchives(objects, next);  // After each: it looks at the newest refs alone.
    count -= entries;
  }
}

// All rows into one table. Rows that go, go here and in no other way, so that no version says "gone" of one that an
// older table still has.
Result<void> ArchiveRows(ManifestLog& log, NewObjects& objects, Manifest& next, uint64_t versions_kept) {
  Result<std::vector<ProducerRow>> rows = ReadRows(log, next);
  // Never "no rows": a newer version has another table.
  if (FailedWith(rows, ErrorCode::kNotFound)) return Error{ErrorCode::kUnavailable, rows.error().message};
  ArchivedRows table{.stream_id = next.stream_id, .rows = BW_TRY(std::move(rows))};
  if (BW_MUTATION(kTableOfOwnRowsAlone)) table.rows = next.rows;
  if (BW_MUTATION(kRowGoesTooSoon)) versions_kept = 0;
  std::erase_if(table.rows, [&](const ProducerRow& row) {
    return row.state == ProducerRow::State::kForgotten && (!row.step || *row.step < next.first_step) &&
           next.version.value - row.incarnation.value > versions_kept;
  });
  const ArchiveRef ref{.kind = ArchiveRef::Kind::kRows, .version = next.version};
  next.archived_rows = objects.Add(ref, EncodeArchivedRows(table));
  next.rows.clear();
  return {};
}

// What a version adds to the one that it follows.
struct Added {
  uint64_t tail_bytes = 0;
  uint64_t rows_bytes = 0;
};

Added AddedSince(const Manifest& next, Step base_end) {
  Added added;
  for (uint64_t i = 0; i < next.next_step.value - base_end.value; ++i) {
    added.tail_bytes += EntryBytes(next.tail[next.tail.size() - 1 - i]);
  }
  for (const ProducerRow& row : next.rows) {
    if ((row.step && *row.step >= base_end) || row.incarnation.value == next.version.value)
      added.rows_bytes += RowBytes(row);
  }
  return added;
}

}  // namespace

uint64_t TailBytes(const Manifest& manifest) {
  uint64_t bytes = 0;
  for (const Entry& entry : manifest.tail) bytes += EntryBytes(entry);
  return bytes;
}

uint64_t RowsBytes(const Manifest& manifest) {
  uint64_t bytes = 0;
  for (const ProducerRow& row : manifest.rows) bytes += RowBytes(row);
  return bytes;
}

Result<void> ArchiveHistory(ManifestLog& log, Manifest& next, Step base_end, TimePoint deadline,
                            const ArchiveLimits& limits) {
  Random& random = log.env().random;
  const Added added = AddedSince(next, base_end);
  NewObjects objects(log);
  if (IsDue(TailBytes(next), std::max(limits.tail_bytes_low, 3 * added.tail_bytes),
            std::max(limits.tail_bytes_high, 4 * added.tail_bytes), random)) {
    ArchiveTail(objects, next, std::max(limits.tail_bytes_kept, 2 * added.tail_bytes),
                std::max(limits.object_bytes_max, added.tail_bytes / 2));
  }
  if (IsDue(RowsBytes(next), std::max(limits.rows_bytes_low, 3 * added.rows_bytes),
            std::max(limits.rows_bytes_high, 4 * added.rows_bytes), random)) {
    BW_TRY(ArchiveRows(log, objects, next, limits.row_versions_kept));
  }
  return objects.Write(deadline);
}

}  // namespace batchweave
