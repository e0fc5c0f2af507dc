#include "batchweave/producer/pack.h"

#include <algorithm>
#include <span>

#include "batchweave/base/check.h"

namespace batchweave {
namespace {

size_t PaddingAfter(uint64_t size_bytes) {
  const uint64_t used = (size_bytes + kTrailerBytes) % kSliceAlignment;
  return used == 0 ? 0 : kSliceAlignment - used;
}

// One length for all where they are alike, as Part::slice_bytes has it.
std::vector<uint64_t> SliceLengths(const GlobalBatch& batch) {
  std::vector<uint64_t> lengths;
  lengths.reserve(batch.contents().size());
  for (const GlobalBatch::Content& content : batch.contents()) lengths.push_back(content.bytes.size());
  if (std::ranges::all_of(lengths, [&](uint64_t length) { return length == lengths.front(); })) lengths.resize(1);
  return lengths;
}

// The trailers in layout order, one after the other: what the digest is taken over.
Bytes Trailers(const TgbIdentity& identity, const GlobalBatch& batch) {
  Bytes trailers(batch.contents().size() * kTrailerBytes);
  for (size_t i = 0; i < batch.contents().size(); ++i) {
    const GlobalBatch::Content& content = batch.contents()[i];
    const Coordinate at{.dp = static_cast<uint32_t>(i % batch.grid().dp),
                        .cp = static_cast<uint32_t>(i / batch.grid().dp)};
    const uint64_t hash = content.hashed ? content.hash : Hash64(content.bytes);
    StoreTrailer(SliceTrailer(identity, at, content.bytes.size(), hash),
                 std::span(trailers).subspan(i * kTrailerBytes).first<kTrailerBytes>());
  }
  return trailers;
}

// Trailers each followed by its padding, then the footer.
Bytes Scaffold(const GlobalBatch& batch, ByteView trailers, ByteView footer) {
  Bytes scaffold;
  scaffold.reserve(batch.contents().size() * (kTrailerBytes + kSliceAlignment) + footer.size());
  for (size_t i = 0; i < batch.contents().size(); ++i) {
    const ByteView trailer = trailers.subspan(i * kTrailerBytes, kTrailerBytes);
    scaffold.insert(scaffold.end(), trailer.begin(), trailer.end());
    scaffold.resize(scaffold.size() + PaddingAfter(batch.contents()[i].bytes.size()));
  }
  scaffold.insert(scaffold.end(), footer.begin(), footer.end());
  return scaffold;
}

}  // namespace

PackedBatch PackBatch(const TgbIdentity& identity, const GlobalBatch& batch, const PublishOptions& options,
                      uint64_t nonce) {
  const Bytes trailers = Trailers(identity, batch);
  TgbFooter footer{.identity = identity,
                   .grid = batch.grid(),
                   .range = WholeOf(batch.grid()),
                   .slice_bytes = SliceLengths(batch),
                   .digest = HashOf128(trailers),
                   .content_type = batch.options().content_type,
                   .schema_hash = batch.options().schema_hash};
  const Bytes footer_bytes = EncodeTgbFooter(footer);

  PackedBatch packed;
  packed.scaffold = Scaffold(batch, trailers, footer_bytes);
  packed.pieces.reserve(batch.contents().size() * 2 + 1);
  size_t scaffold_offset = 0;
  for (const GlobalBatch::Content& content : batch.contents()) {
    const size_t after = kTrailerBytes + PaddingAfter(content.bytes.size());
    if (!content.bytes.empty()) packed.pieces.push_back(content.bytes);
    packed.pieces.push_back(ByteView(packed.scaffold).subspan(scaffold_offset, after));
    scaffold_offset += after;
  }
  packed.pieces.push_back(ByteView(packed.scaffold).subspan(scaffold_offset));

  Part part{.nonce = nonce,
            .range = footer.range,
            .slice_bytes = footer.slice_bytes,
            .object_bytes = TotalSize(packed.pieces),
            .footer_bytes = static_cast<uint32_t>(footer_bytes.size())};
  packed.entry = {.producer = identity.producer,
                  .incarnation = identity.incarnation,
                  .seq = identity.seq,
                  .grid = batch.grid(),
                  .parts = {std::move(part)},
                  .digest = footer.digest,
                  .content_type = footer.content_type,
                  .schema_hash = footer.schema_hash,
                  .samples = options.samples,
                  .cursor = options.cursor,
                  .metadata = options.metadata};
  if (!LengthsFitEntry(packed.entry.parts)) packed.entry.parts.front().slice_bytes.clear();
  return packed;
}

}  // namespace batchweave
