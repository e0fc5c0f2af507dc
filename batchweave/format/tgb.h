// The object that holds a Transactional Global Batch, or a part of one: slices, provenance, footer.
//
// Slices lie with cp outermost and dp innermost, each begun at a multiple of 64 bytes and followed by an 8-byte trailer.
// A trailer binds the content to its place: whoever reads one slice knows alone that it got the right bytes of the
// right slice of the right batch. docs/format.md has the bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"
#include "batchweave/format/entry.h"
#include "batchweave/format/grid.h"
#include "batchweave/format/types.h"

namespace batchweave {

inline constexpr size_t kSliceAlignment = 64;
inline constexpr size_t kTrailerBytes = 8;

// Which batch: what trailers are bound to.
struct TgbIdentity {
  StreamId stream_id{};
  std::string producer{};
  Incarnation incarnation{};
  uint64_t seq = 0;
  friend bool operator==(const TgbIdentity&, const TgbIdentity&) = default;
};

// The trailer of a slice of `size_bytes` whose content has Hash64 `content_hash`.
uint64_t SliceTrailer(const TgbIdentity& identity, Coordinate coordinate, uint64_t size_bytes, uint64_t content_hash);

// As it lies in the object: little-endian.
void StoreTrailer(uint64_t trailer, std::span<std::byte, kTrailerBytes> to);
uint64_t LoadTrailer(std::span<const std::byte, kTrailerBytes> from);

// The digest of an entry, or of a footer: over `trailers` in layout order.
Hash128 DigestOfTrailers(std::span<const uint64_t> trailers);

// Where the slices of a part lie.
class PartLayout {
 public:
  // `slice_bytes` as in Part, not empty: one length for all, or one a slice.
  // Errors: kCorrupt (their count does not fit the range, or their sum overflows).
  static Result<PartLayout> Make(GridRange range, std::vector<uint64_t> slice_bytes);
  // payload_end() alone, without making a layout. Errors: as Make.
  static Result<uint64_t> PayloadEnd(GridRange range, std::span<const uint64_t> slice_bytes);

  const GridRange& range() const { return range_; }
  // `at` in coordinates of the whole grid; must lie in the range.
  uint64_t SliceBytes(Coordinate at) const;
  uint64_t SliceOffset(Coordinate at) const;  // From the beginning of the object.
  uint64_t payload_end() const;               // One past the last slice's padding: where provenance begins.

 private:
  PartLayout(GridRange range, std::vector<uint64_t> slice_bytes, std::vector<uint64_t> offsets);
  size_t IndexOf(Coordinate at) const;

  GridRange range_;
  std::vector<uint64_t> slice_bytes_;  // One: uniform.
  std::vector<uint64_t> offsets_;      // Of each slice and of the end; empty: uniform.
};

// What the footer says: the object explains itself without the manifest.
struct TgbFooter {
  TgbIdentity identity{};
  Grid grid{};
  GridRange range{};
  std::vector<uint64_t> slice_bytes{};  // As in Part; never empty.
  Hash128 digest{};                     // Over the trailers of this object, in layout order.
  std::string content_type{};
  uint64_t schema_hash = 0;
  uint32_t provenance_bytes = 0;
  uint64_t provenance_hash = 0;  // Hash64 of the provenance block; 0 where there is none.
  friend bool operator==(const TgbFooter&, const TgbFooter&) = default;
};

// The last kFooterTailBytes of every TGB object: lengths, checksum, magic.
inline constexpr size_t kFooterTailBytes = 32;

// Index and tail, ready to be written after payload and provenance.
Bytes EncodeTgbFooter(const TgbFooter& footer);

// From exactly the last `Part::footer_bytes` of the object, or from all of it.
// Errors: kCorrupt (says which check failed), kIncompatible.
Result<TgbFooter> DecodeTgbFooter(ByteView end_of_object);

// What `footer` must say where it is of `part` of `entry`: a reader that takes slice lengths from it asks this first.
// Errors: kCorrupt (says what differs).
Result<void> CheckFooterOf(const TgbFooter& footer, StreamId stream_id, const Entry& entry, const Part& part);

// That `provenance` is the block which `footer` speaks of. Errors: kCorrupt.
Result<void> CheckProvenanceOf(const TgbFooter& footer, ByteView provenance);

// The footer's length, told by the last kFooterTailBytes of an object. Errors: as DecodeTgbFooter.
Result<uint32_t> FooterBytes(ByteView tail);

}  // namespace batchweave
