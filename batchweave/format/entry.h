// An entry: what a manifest says of one Transactional Global Batch (TGB), enough to read any slice of it with one
// ranged GET. docs/format.md has the layout of the object that it describes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"
#include "batchweave/format/grid.h"
#include "batchweave/format/types.h"

namespace batchweave {

inline constexpr size_t kCursorBytesMax = 1024;
inline constexpr size_t kMetadataBytesMax = 1024;
inline constexpr size_t kContentTypeBytesMax = 255;
inline constexpr uint64_t kProvenanceBytesMax = uint64_t{1} << 20;
// Slice lengths of all parts of an entry that together encode longer than this stay in the objects' footers.
inline constexpr size_t kEntryLengthsBytesMax = 2048;
// Parts of one entry, at most: at 48 bytes each they already fill a third of a manifest's tail.
inline constexpr size_t kPartsMax = 1024;

// The content of one rectangle of the grid, in one object. An entry's parts tile its grid.
struct Part {
  uint64_t nonce = 0;  // Ends the object's key.
  GridRange range{};
  // Bytes of each slice in layout order (cp outermost, dp innermost); one element when all are alike; empty when the
  // lengths are left to the object's footer.
  std::vector<uint64_t> slice_bytes{};
  uint64_t object_bytes = 0;      // The whole object, footer included.
  uint32_t footer_bytes = 0;      // The last bytes of the object: index and tail.
  uint32_t provenance_bytes = 0;  // The optional block before the footer.
  friend bool operator==(const Part&, const Part&) = default;
};

struct Entry {
  std::string producer{};
  Incarnation incarnation{};
  uint64_t seq = 0;  // The first batch of a producer is 1; +1 for each, across incarnations.
  Grid grid{};
  std::vector<Part> parts{};
  Hash128 digest{};            // Over all trailers, in layout order of the whole grid.
  std::string content_type{};  // A MIME type, e.g. "application/x-safetensors".
  uint64_t schema_hash = 0;    // Of the codec's schema; 0: none.
  uint64_t samples = 0;
  Bytes cursor{};               // Where the producer's source stands after this batch; opaque.
  int64_t committed_at_ns = 0;  // Wall clock of the committer, nanoseconds since 1970: for people only.
  Bytes metadata{};             // The user's own, opaque.
  friend bool operator==(const Entry&, const Entry&) = default;
};

// True where the slice lengths of `parts` encode to at most kEntryLengthsBytesMax together. Where false, whoever makes
// the entry empties `slice_bytes` of those that have more than one, and readers fetch those objects' footers first.
bool LengthsFitEntry(const std::vector<Part>& parts);

// True where `text` may be a content type: printable ASCII, and not too long. None at all is one.
bool IsContentType(std::string_view text);

// The rules that a part keeps by itself: slices, provenance and footer fill its object. Errors: kCorrupt (says which).
Result<void> CheckPart(const Part& part);

// The rules that an entry keeps whatever stream it is of: names and limits, a grid within kGridSlicesMax, parts that
// tile it, each passing CheckPart. Errors: kCorrupt (says which rule).
Result<void> CheckEntry(const Entry& entry);

// Bytes of all slices of `entry`, trailers and padding not counted; object bytes where the lengths are in a footer.
uint64_t PayloadBytes(const Entry& entry);

}  // namespace batchweave
