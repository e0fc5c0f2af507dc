#include "batchweave/testing/stream_builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/format/archive.h"
#include "batchweave/format/stream_info.h"
#include "batchweave/format/tgb.h"
#include "batchweave/testing/seeded_random.h"

namespace batchweave {
namespace {

constexpr std::string_view kProducer = "tok-03";

// The version that would have opened the producer: the builder's first commit is that.
constexpr Incarnation kIncarnation{1};

uint64_t SizeOf(const TestBatch& batch, Coordinate at) {
  if (batch.slice_bytes.size() == 1) return batch.slice_bytes.front();
  return batch.slice_bytes[size_t{at.cp} * batch.grid.dp + at.dp];
}

template <typename Visit>
void ForEachSlice(const GridRange& range, Visit visit) {
  for (uint32_t cp = 0; cp < range.cp_count; ++cp) {
    for (uint32_t dp = 0; dp < range.dp_count; ++dp) {
      visit(Coordinate{.dp = range.dp_begin + dp, .cp = range.cp_begin + cp});
    }
  }
}

}  // namespace

Bytes TestSlice(uint64_t seq, Coordinate at, uint64_t size_bytes) {
  SeededRandom random(seq << 40 ^ uint64_t{at.dp} << 20 ^ at.cp);
  Bytes bytes(size_bytes);
  for (size_t offset = 0; offset < bytes.size(); offset += sizeof(uint64_t)) {
    const uint64_t word = random.Next();
    std::memcpy(bytes.data() + offset, &word, std::min(sizeof(word), bytes.size() - offset));
  }
  return bytes;
}

bool IsTestSlice(uint64_t seq, Coordinate at, ByteView bytes) {
  return std::ranges::equal(TestSlice(seq, at, bytes.size()), bytes);
}

StreamBuilder::StreamBuilder(ObjectStore& store, std::string name)
    : store_(store), keys_{.name = std::move(name), .stream_id = StreamId{{.high = 0x1234, .low = 0x5678}}} {
  const Bytes json = EncodeStreamInfo({.stream_id = keys_.stream_id});
  stream_json_hash_ = HashOf128(json);
  newest_hash_ = stream_json_hash_;
  newest_ = EmptyManifest(keys_.stream_id, stream_json_hash_);
  BW_CHECK(PutBytes(store_, StreamJsonKey(keys_.name), json, PutMode::kCreate).ok());
  Manifest opened = Begin();
  opened.rows.push_back({.producer = std::string(kProducer), .incarnation = kIncarnation});
  Write(std::move(opened));
}

Entry StreamBuilder::Upload(const TestBatch& batch) {
  Entry entry{.producer = std::string(kProducer),
              .incarnation = kIncarnation,
              .seq = ++seq_,
              .grid = batch.grid,
              .content_type = "application/octet-stream",
              .committed_at_ns = batch.committed_at_ns};
  WriteParts(entry, batch);
  return entry;
}

Entry StreamBuilder::UploadAgain(const Entry& entry, const TestBatch& batch) {
  Entry again = entry;
  again.parts.clear();
  WriteParts(again, batch);
  return again;
}

void StreamBuilder::WriteParts(Entry& entry, const TestBatch& batch) {
  std::vector<uint64_t> trailers(batch.grid.slices());
  const std::vector<GridRange> ranges = batch.parts.empty() ? std::vector{WholeOf(batch.grid)} : batch.parts;
  for (const GridRange& range : ranges) entry.parts.push_back(WritePart(entry, range, batch, trailers));
  entry.digest = DigestOfTrailers(trailers);
}

Part StreamBuilder::WritePart(const Entry& entry, const GridRange& range, const TestBatch& batch,
                              std::vector<uint64_t>& all_trailers) {
  TgbFooter footer{.identity = {.stream_id = keys_.stream_id,
                                .producer = entry.producer,
                                .incarnation = entry.incarnation,
                                .seq = entry.seq},
                   .grid = entry.grid,
                   .range = range,
                   .content_type = entry.content_type};
  Bytes object;
  std::vector<uint64_t> trailers;
  ForEachSlice(range, [&](Coordinate at) {
    const Bytes slice = TestSlice(entry.seq, at, SizeOf(batch, at));
    if (batch.slice_bytes.size() > 1) footer.slice_bytes.push_back(slice.size());
    object.insert(object.end(), slice.begin(), slice.end());
    trailers.push_back(SliceTrailer(footer.identity, at, slice.size(), Hash64(slice)));
    object.resize(object.size() + kTrailerBytes);
    all_trailers[size_t{at.cp} * batch.grid.dp + at.dp] = trailers.back();
    StoreTrailer(trailers.back(), std::span(object).last<kTrailerBytes>());
    object.resize((object.size() + kSliceAlignment - 1) / kSliceAlignment * kSliceAlignment);
  });
  if (batch.slice_bytes.size() == 1) footer.slice_bytes = batch.slice_bytes;
  footer.digest = DigestOfTrailers(trailers);
  const Bytes end = EncodeTgbFooter(footer);
  object.insert(object.end(), end.begin(), end.end());
  const Part part{.nonce = ++nonce_,
                  .range = range,
                  .slice_bytes = batch.lengths_in_footer ? std::vector<uint64_t>{} : footer.slice_bytes,
                  .object_bytes = object.size(),
                  .footer_bytes = static_cast<uint32_t>(end.size())};
  const std::string key = keys_.Data(entry.producer, entry.incarnation, entry.seq, part.nonce);
  BW_CHECK(PutBytes(store_, key, object, PutMode::kCreate).ok());
  return part;
}

Manifest StreamBuilder::Begin() const {
  Manifest next = newest_;
  next.version = Next(newest_.version);
  next.previous_hash = newest_hash_;
  next.commit_id.bits = {.high = next.version.value, .low = 1};
  return next;
}

void StreamBuilder::Write(Manifest next) {
  const EncodedManifest encoded = EncodeManifest(next);
  BW_CHECK(PutBytes(store_, keys_.Manifest(next.version), encoded.bytes, PutMode::kCreate).ok());
  newest_ = std::move(next);
  newest_hash_ = encoded.hash;
}

void StreamBuilder::Commit(std::vector<Entry> entries) {
  Manifest next = Begin();
  for (Entry& entry : entries) {
    next.rows.front().seq = entry.seq;
    next.rows.front().step = next.next_step;
    next.tail.push_back(std::move(entry));
    next.next_step = next.next_step + 1;
  }
  Write(std::move(next));
}

void StreamBuilder::Seal() {
  Manifest next = Begin();
  next.sealed = true;
  Write(std::move(next));
}

void StreamBuilder::Delete() {
  Manifest next = Begin();
  next.deleted = true;
  Write(std::move(next));
}

void StreamBuilder::DeleteAll() {
  const Bytes json = EncodeStreamInfo({.stream_id = keys_.stream_id, .deleted = true});
  BW_CHECK(PutBytes(store_, StreamJsonKey(keys_.name), json, PutMode::kOverwrite).ok());
  std::vector<std::string> keys;
  BW_CHECK(ForEachObject(store_, keys_.StreamPrefix(), [&](const ListedObject& object) -> Result<void> {
             keys.push_back(object.key);
             return {};
           }).ok());
  BW_CHECK(store_.Delete(keys).ok());
}

void StreamBuilder::Trim(Step first_step) {
  Manifest next = Begin();
  next.first_step = first_step;
  std::erase_if(next.archives, [&](const ArchiveRef& ref) { return ref.end <= first_step; });
  if (first_step > newest_.tail_first()) {
    const uint64_t dropped = first_step.value - newest_.tail_first().value;
    next.tail.erase(next.tail.begin(), next.tail.begin() + static_cast<std::ptrdiff_t>(dropped));
  }
  Write(std::move(next));
}

void StreamBuilder::Replace(Step step, Entry entry) {
  Manifest next = Begin();
  next.tail[step.value - newest_.tail_first().value] = std::move(entry);
  Write(std::move(next));
}

void StreamBuilder::Archive(size_t entries) {
  Manifest next = Begin();
  const auto end = next.tail.begin() + static_cast<std::ptrdiff_t>(entries);
  const Step first = newest_.tail_first();
  const Bytes object =
      EncodeArchivedEntries({.stream_id = keys_.stream_id, .first = first, .entries = {next.tail.begin(), end}});
  next.archives.push_back(
      WriteArchive({.kind = ArchiveRef::Kind::kEntries, .first = first, .end = first + entries}, object));
  next.tail.erase(next.tail.begin(), end);
  Write(std::move(next));
}

void StreamBuilder::FoldArchives() {
  Manifest next = Begin();
  const Bytes object = EncodeArchiveIndex({.stream_id = keys_.stream_id, .children = next.archives});
  const uint8_t level = static_cast<uint8_t>(next.archives.front().level + 1);
  next.archives = {WriteArchive({.kind = ArchiveRef::Kind::kIndex,
                                 .first = next.archives.front().first,
                                 .end = next.archives.back().end,
                                 .level = level},
                                object)};
  Write(std::move(next));
}

ArchiveRef StreamBuilder::WriteArchive(ArchiveRef ref, const Bytes& bytes) {
  ref.version = Next(newest_.version);
  ref.nonce = ++nonce_;
  ref.object_bytes = bytes.size();
  ref.hash = HashOf128(bytes);
  BW_CHECK(PutBytes(store_, keys_.Archive(ref), bytes, PutMode::kCreate).ok());
  return ref;
}

void StreamBuilder::Retire(Version version) {
  const Result<Bytes> object = store_.Read(keys_.Manifest(version));
  BW_CHECK(object.ok());
  const Result<Manifest> manifest = DecodeManifest(*object);
  const Result<Hash128> hash = ManifestHash(*object);
  BW_CHECK(manifest.ok() && hash.ok());
  const Bytes tombstone = EncodeTombstone(
      {.version = version, .commit_id = manifest->commit_id, .hash = *hash, .previous_hash = manifest->previous_hash});
  BW_CHECK(PutBytes(store_, keys_.Manifest(version), tombstone, PutMode::kOverwrite).ok());
}

}  // namespace batchweave
