// Writes a stream by hand, without producer or log: TGB objects and manifest versions as a test wants them. What it
// writes is valid; a test that wants damage does it to the store.
//
//   StreamBuilder stream(store);
//   stream.Append({.grid = {.dp = 4, .cp = 2}, .slice_bytes = {1000}});
//   ManifestLog log(env, stream.keys(), stream.stream_json_hash());
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/format/keys.h"
#include "batchweave/format/manifest.h"
#include "batchweave/store/object_store.h"

namespace batchweave {

struct TestBatch {
  Grid grid{.dp = 1, .cp = 1};
  std::vector<uint64_t> slice_bytes{100};  // One for all slices, or one each in layout order of the grid.
  std::vector<GridRange> parts{};          // That tile the grid; none: one object.
  bool lengths_in_footer = false;          // The entry leaves them out.
  int64_t committed_at_ns = 0;
};

// The bytes of the slice `at` of the batch `seq`: no two slices are alike. The first batch, at step 0, has seq 1.
Bytes TestSlice(uint64_t seq, Coordinate at, uint64_t size_bytes);
bool IsTestSlice(uint64_t seq, Coordinate at, ByteView bytes);

// Not safe for concurrent use. Every call checks that it succeeded.
class StreamBuilder {
 public:
  // `store` must outlive the builder.
  explicit StreamBuilder(ObjectStore& store, std::string name = "run");

  const StreamKeys& keys() const { return keys_; }
  Hash128 stream_json_hash() const { return stream_json_hash_; }
  const Manifest& newest() const { return newest_; }
  Hash128 newest_hash() const { return newest_hash_; }

  // Writes the objects of the next batch of the one producer, "tok-03", and returns its entry, to be committed in order.
  Entry Upload(const TestBatch& batch);
  // The same batch once more under other keys.
  Entry UploadAgain(const Entry& entry, const TestBatch& batch);

  // Each commits one version.
  void Commit(std::vector<Entry> entries);
  void Append(const TestBatch& batch) { Commit({Upload(batch)}); }
  void CommitNothing() { Commit({}); }
  void Seal();
  void Delete();
  void Trim(Step first_step);
  void Replace(Step step, Entry entry);  // The entry of a step in the tail.
  // Moves the oldest `entries` of the tail to an archived object.
  void Archive(size_t entries);
  // Moves the refs of all archived objects to an index.
  void FoldArchives();

  // Marks stream.json and removes all else, as a deletion does. What is committed then is of one who slept through it.
  void DeleteAll();

  // Makes a tombstone of a version.
  void Retire(Version version);

 private:
  Manifest Begin() const;
  void Write(Manifest next);
  Part WritePart(const Entry& entry, const GridRange& range, const TestBatch& batch,
                 std::vector<uint64_t>& all_trailers);
  void WriteParts(Entry& entry, const TestBatch& batch);
  ArchiveRef WriteArchive(ArchiveRef ref, const Bytes& bytes);

  ObjectStore& store_;
  StreamKeys keys_;
  Hash128 stream_json_hash_;
  Manifest newest_;
  Hash128 newest_hash_;
  uint64_t seq_ = 0;
  uint64_t nonce_ = 0;
};

}  // namespace batchweave
