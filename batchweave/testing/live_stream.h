// A stream that a test changes through the log, one version a call, so that commits of other parts may come in between.
// Its batches are objects of the right keys and sizes, but of no content: for tests of what is kept and what goes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "batchweave/base/check.h"
#include "batchweave/format/archive.h"
#include "batchweave/format/stream_info.h"
#include "batchweave/log/change.h"
#include "batchweave/testing/format_builders.h"
#include "batchweave/testing/test_env.h"

namespace batchweave {

// Not safe for concurrent use. Every call checks that it succeeded.
class LiveStream {
 public:
  // `store` and `uploads` must outlive the stream.
  explicit LiveStream(ObjectStore& store, UnfinishedUploads* uploads = nullptr)
      : store_(store), env_(/*seed=*/1, uploads), log_(LogOver(store)) {
    BW_CHECK(PutBytes(store_, StreamJsonKey(kKeys.name), json_, PutMode::kCreate).ok());
  }

  ManifestLog& log() { return log_; }
  const StreamKeys& keys() const { return kKeys; }
  Env env() { return env_.Over(store_); }
  Manifest Newest() { return Ok(log_.ReadNewest()).manifest; }

  // A handle of its own on the same stream, over another store (a faulty one).
  ManifestLog LogOver(ObjectStore& store) { return {env_.Over(store), kKeys, HashOf128(json_)}; }

  Incarnation Open(const std::string& producer) {
    const Manifest opened = Change([&](Manifest& next) {
      ProducerRow& row = RowOf(next, producer);
      row.incarnation = {next.version.value};
      row.opening_nonce = next.version.value;
      row.state = ProducerRow::State::kOpen;
    });
    return {opened.version.value};
  }

  void Finish(const std::string& producer) {
    Change([&](Manifest& next) { RowOf(next, producer).state = ProducerRow::State::kFinished; });
  }

  // Writes the object of the batch `seq`, and does not commit it.
  Entry Upload(const std::string& producer, Incarnation incarnation, uint64_t seq) {
    Entry entry = MakeEntry(producer, seq, incarnation);
    entry.grid = {.dp = 1, .cp = 1};
    entry.parts = {WholePart(entry.grid, 100, ++nonce_)};
    const std::string key = kKeys.Data(producer, incarnation, seq, nonce_);
    BW_CHECK(PutBytes(store_, key, Bytes(entry.parts[0].object_bytes), PutMode::kCreate).ok());
    return entry;
  }

  // Uploads and commits the next batches of an opened producer, in one version.
  void Append(const std::string& producer, size_t batches = 1) {
    Change([&](Manifest& next) {
      ProducerRow& row = RowOf(next, producer);
      for (size_t i = 0; i < batches; ++i) {
        next.tail.push_back(Upload(producer, row.incarnation, ++row.seq));
        row.step = next.next_step;
        row.cursor.reset();
        next.next_step = next.next_step + 1;
      }
    });
  }

  // Versions that change nothing.
  void Tick(size_t versions) {
    for (size_t i = 0; i < versions; ++i) Change([](Manifest&) {});
  }

  // Moves the oldest entries of the tail to an archived object.
  void Archive(size_t entries) {
    Change([&](Manifest& next) {
      const Step first = next.tail_first();
      const auto end = next.tail.begin() + static_cast<std::ptrdiff_t>(entries);
      const Bytes object =
          EncodeArchivedEntries({.stream_id = kKeys.stream_id, .first = first, .entries = {next.tail.begin(), end}});
      ArchiveRef ref{.kind = ArchiveRef::Kind::kEntries, .first = first, .end = first + entries};
      for (auto entry = next.tail.begin(); entry != end; ++entry) ref.payload_bytes += entry->parts[0].object_bytes;
      next.tail.erase(next.tail.begin(), end);
      next.archives.push_back(WriteArchive(next.version, ref, object));
    });
  }

  // Moves the refs of all archived objects to an index.
  void Fold() {
    Change([&](Manifest& next) {
      const Bytes object = EncodeArchiveIndex({.stream_id = kKeys.stream_id, .children = next.archives});
      const ArchiveRef index{.kind = ArchiveRef::Kind::kIndex,
                             .first = next.archives.front().first,
                             .end = next.archives.back().end,
                             .level = static_cast<uint8_t>(next.archives.front().level + 1)};
      next.archives = {WriteArchive(next.version, index, object)};
    });
  }

  // Moves all rows, as they are, to an archived table.
  void ArchiveRows() {
    Change([&](Manifest& next) {
      const Bytes object = EncodeArchivedRows({.stream_id = kKeys.stream_id, .rows = std::exchange(next.rows, {})});
      next.archived_rows = WriteArchive(next.version, {.kind = ArchiveRef::Kind::kRows}, object);
    });
  }

  // Every key that is there, in order.
  std::vector<std::string> Keys(const std::string& prefix = "") {
    std::vector<std::string> keys;
    const Result<void> listed = ForEachObject(store_, prefix, [&](const ListedObject& object) -> Result<void> {
      keys.push_back(object.key);
      return {};
    });
    BW_CHECK(listed.ok());
    std::ranges::sort(keys);
    return keys;
  }

  template <typename Body>
  Manifest Change(Body body) {
    const auto change = [&](Manifest& next) -> Result<bool> {
      body(next);
      return true;
    };
    return Ok(CommitChange(log_, kForever, change)).manifest;
  }

 private:
  static inline const StreamKeys kKeys{.name = "run", .stream_id = {.bits = {.high = 1, .low = 2}}};

  template <typename T>
  static T Ok(Result<T> result) {
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : ToString(result.error()));
    return std::move(result).value();
  }

  static ProducerRow& RowOf(Manifest& manifest, const std::string& producer) {
    const auto row = std::ranges::lower_bound(manifest.rows, producer, {}, &ProducerRow::producer);
    if (row != manifest.rows.end() && row->producer == producer) return *row;
    return *manifest.rows.insert(row, ProducerRow{.producer = producer});
  }

  ArchiveRef WriteArchive(Version version, ArchiveRef ref, const Bytes& object) {
    ref.version = version;
    ref.nonce = ++nonce_;
    ref.object_bytes = object.size();
    ref.hash = HashOf128(object);
    BW_CHECK(PutBytes(store_, kKeys.Archive(ref), object, PutMode::kCreate).ok());
    return ref;
  }

  ObjectStore& store_;
  TestEnv env_;
  const Bytes json_ = EncodeStreamInfo({.stream_id = kKeys.stream_id});
  ManifestLog log_;
  uint64_t nonce_ = 0;
};

}  // namespace batchweave
