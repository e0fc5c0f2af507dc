#include "batchweave/producer/pack.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/base/hash.h"

namespace batchweave {
namespace {

size_t PaddingAfter(uint64_t size_bytes) {
  const uint64_t used = (size_bytes + kTrailerBytes) % kSliceAlignment;
  return used == 0 ? 0 : kSliceAlignment - used;
}

// One length for all where they are alike, as Part::slice_bytes has it.
std::vector<uint64_t> SliceLengths(const GlobalBatch& slices) {
  std::vector<uint64_t> lengths;
  lengths.reserve(slices.contents().size());
  for (const GlobalBatch::Content& content : slices.contents()) lengths.push_back(content.bytes.size());
  if (std::ranges::all_of(lengths, [&](uint64_t length) { return length == lengths.front(); })) lengths.resize(1);
  return lengths;
}

// In layout order. They are bound to places in the whole grid.
std::vector<uint64_t> Trailers(const TgbIdentity& identity, const GridRange& range, const GlobalBatch& slices) {
  std::vector<uint64_t> trailers;
  trailers.reserve(slices.contents().size());
  for (size_t i = 0; i < slices.contents().size(); ++i) {
    const GlobalBatch::Content& content = slices.contents()[i];
    const Coordinate at{.dp = range.dp_begin + static_cast<uint32_t>(i % range.dp_count),
                        .cp = range.cp_begin + static_cast<uint32_t>(i / range.dp_count)};
    const uint64_t hash = content.hashed ? content.hash : Hash64(content.bytes);
    trailers.push_back(SliceTrailer(identity, at, content.bytes.size(), hash));
  }
  return trailers;
}

PackedObject Assemble(const PartContent& content, std::span<const uint64_t> trailers, ByteView footer) {
  const std::vector<GlobalBatch::Content>& slices = content.slices.contents();
  PackedObject object;
  // Trailers each followed by its padding, then the footer.
  object.scaffold.reserve(slices.size() * (kTrailerBytes + kSliceAlignment) + footer.size());
  for (size_t i = 0; i < slices.size(); ++i) {
    std::array<std::byte, kTrailerBytes> trailer;
    StoreTrailer(trailers[i], trailer);
    object.scaffold.insert(object.scaffold.end(), trailer.begin(), trailer.end());
    object.scaffold.resize(object.scaffold.size() + PaddingAfter(slices[i].bytes.size()));
  }
  object.scaffold.insert(object.scaffold.end(), footer.begin(), footer.end());

  object.pieces.reserve(slices.size() * 2 + 2);
  ByteView rest = object.scaffold;
  for (const GlobalBatch::Content& slice : slices) {
    const size_t after = kTrailerBytes + PaddingAfter(slice.bytes.size());
    if (!slice.bytes.empty()) object.pieces.push_back(slice.bytes);
    object.pieces.push_back(rest.first(after));
    rest = rest.subspan(after);
  }
  if (!content.provenance.empty()) object.pieces.push_back(content.provenance);
  object.pieces.push_back(rest);
  return object;
}

}  // namespace

PackedPart PackPart(const PartTicket& ticket, const PartContent& content, uint64_t nonce) {
  BW_CHECK(content.slices.contents().size() == content.range.slices());
  const auto provenance_bytes = static_cast<uint32_t>(content.provenance.size());
  PackedPart packed;
  packed.trailers = Trailers(ticket.identity, content.range, content.slices);
  const TgbFooter footer{.identity = ticket.identity,
                         .grid = ticket.grid,
                         .range = content.range,
                         .slice_bytes = SliceLengths(content.slices),
                         .digest = DigestOfTrailers(packed.trailers),
                         .content_type = ticket.content_type,
                         .schema_hash = ticket.schema_hash,
                         .provenance_bytes = provenance_bytes,
                         .provenance_hash = provenance_bytes == 0 ? 0 : Hash64(content.provenance)};
  const Bytes footer_bytes = EncodeTgbFooter(footer);
  packed.object = Assemble(content, packed.trailers, footer_bytes);
  packed.part = {.nonce = nonce,
                 .range = footer.range,
                 .slice_bytes = footer.slice_bytes,
                 .object_bytes = TotalSize(packed.object.pieces),
                 .footer_bytes = static_cast<uint32_t>(footer_bytes.size()),
                 .provenance_bytes = provenance_bytes};
  return packed;
}

PackedBatch PackBatch(const TgbIdentity& identity, const GlobalBatch& batch, const PublishOptions& options,
                      uint64_t nonce) {
  const PartTicket ticket{.identity = identity,
                          .grid = batch.grid(),
                          .content_type = batch.options().content_type,
                          .schema_hash = batch.options().schema_hash};
  const GridRange whole = WholeOf(batch.grid());
  PackedPart packed = PackPart(ticket, {.range = whole, .slices = batch, .provenance = options.provenance}, nonce);
  const Hash128 digest = DigestOfTrailers(packed.trailers);
  return {.entry = EntryOf(ticket, {std::move(packed.part)}, digest, options), .object = std::move(packed.object)};
}

Entry EntryOf(const PartTicket& ticket, std::vector<Part> parts, Hash128 digest, const PublishOptions& options) {
  Entry entry{.producer = ticket.identity.producer,
              .incarnation = ticket.identity.incarnation,
              .seq = ticket.identity.seq,
              .grid = ticket.grid,
              .parts = std::move(parts),
              .digest = digest,
              .content_type = ticket.content_type,
              .schema_hash = ticket.schema_hash,
              .samples = options.samples,
              .cursor = options.cursor,
              .metadata = options.metadata};
  if (LengthsFitEntry(entry.parts)) return entry;
  for (Part& part : entry.parts) {
    if (part.slice_bytes.size() > 1) part.slice_bytes.clear();
  }
  return entry;
}

}  // namespace batchweave
