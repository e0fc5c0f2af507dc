#include "batchweave/format/entry.h"

#include <fmt/format.h>

#include <utility>

#include "batchweave/format/keys.h"
#include "batchweave/format/slice_lengths.h"
#include "batchweave/format/tgb.h"

namespace batchweave {
namespace {

Error Corrupt(const Entry& entry, std::string_view reason) {
  return {ErrorCode::kCorrupt, fmt::format("{}: producer={} seq={}", reason, entry.producer, entry.seq)};
}

size_t EncodedLengthsBytes(const std::vector<Part>& parts) {
  size_t size_bytes = 0;
  for (const Part& part : parts) {
    if (part.slice_bytes.size() > 1) size_bytes += SliceLengthsBytes(part.slice_bytes);
  }
  return size_bytes;
}

// No slice twice: with as many slices in all as the grid has, that is a tiling.
bool PartsTileGrid(const Entry& entry) {
  uint64_t slices = 0;
  for (const Part& part : entry.parts) {
    if (!IsRangeOf(entry.grid, part.range)) return false;
    slices += part.range.slices();
  }
  if (slices != entry.grid.slices()) return false;
  if (entry.parts.size() == 1) return true;

  std::vector<bool> taken(entry.grid.slices());
  for (const Part& part : entry.parts) {
    const GridRange& range = part.range;
    for (uint32_t cp = range.cp_begin; cp < range.cp_begin + range.cp_count; ++cp) {
      for (uint32_t dp = range.dp_begin; dp < range.dp_begin + range.dp_count; ++dp) {
        const size_t index = size_t{cp} * entry.grid.dp + dp;
        if (taken[index]) return false;
        taken[index] = true;
      }
    }
  }
  return true;
}

}  // namespace

bool LengthsFitEntry(const std::vector<Part>& parts) { return EncodedLengthsBytes(parts) <= kEntryLengthsBytesMax; }

Result<void> CheckPart(const Part& part) {
  const auto corrupt = [](std::string_view reason) { return Error{ErrorCode::kCorrupt, std::string(reason)}; };
  if (part.provenance_bytes > kProvenanceBytesMax) return corrupt("provenance is too long");
  if (part.footer_bytes <= kFooterTailBytes) return corrupt("footer is too short");
  const uint64_t after_slices = uint64_t{part.provenance_bytes} + part.footer_bytes;
  if (part.slice_bytes.empty()) {
    return part.object_bytes > after_slices ? Result<void>() : corrupt("object is too short");
  }
  const uint64_t payload_end = BW_TRY(PartLayout::PayloadEnd(part.range, part.slice_bytes));
  if (payload_end + after_slices != part.object_bytes) return corrupt("slices do not fill their object");
  return {};
}

Result<void> CheckEntry(const Entry& entry) {
  if (!CheckName("producer", entry.producer).ok()) return Corrupt(entry, "producer has no valid name");
  if (entry.incarnation == Incarnation{} || entry.seq == 0) return Corrupt(entry, "entry has no incarnation or seq");
  if (entry.cursor.size() > kCursorBytesMax) return Corrupt(entry, "cursor is too long");
  if (entry.metadata.size() > kMetadataBytesMax) return Corrupt(entry, "metadata is too long");
  if (!IsContentType(entry.content_type)) return Corrupt(entry, "content type is too long or not printable");
  if (!IsGrid(entry.grid)) return Corrupt(entry, "grid is empty or too large");
  if (entry.parts.size() > kPartsMax) return Corrupt(entry, "too many parts");
  if (!PartsTileGrid(entry)) return Corrupt(entry, "parts do not tile the grid");
  if (!LengthsFitEntry(entry.parts)) return Corrupt(entry, "slice lengths are too long for an entry");
  for (const Part& part : entry.parts) {
    if (const Result<void> checked = CheckPart(part); !checked.ok()) return Corrupt(entry, checked.error().message);
  }
  return {};
}

bool IsContentType(std::string_view text) {
  for (const char c : text) {
    if (c < ' ' || c > '~') return false;
  }
  return text.size() <= kContentTypeBytesMax;
}

uint64_t PayloadBytes(const Entry& entry) {
  uint64_t size_bytes = 0;
  for (const Part& part : entry.parts) {
    if (part.slice_bytes.empty()) size_bytes += part.object_bytes;
    if (part.slice_bytes.size() == 1) size_bytes += part.slice_bytes.front() * part.range.slices();
    if (part.slice_bytes.size() > 1) {
      for (const uint64_t slice : part.slice_bytes) size_bytes += slice;
    }
  }
  return size_bytes;
}

}  // namespace batchweave
