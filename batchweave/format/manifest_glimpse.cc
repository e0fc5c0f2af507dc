#include "batchweave/format/manifest_glimpse.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <utility>

#include "batchweave/format/history_codec.h"
#include "batchweave/format/keys.h"
#include "batchweave/format/manifest_blocks.h"
#include "batchweave/format/manifest_generated.h"
#include "batchweave/format/object_frame.h"
#include "batchweave/format/verified_root.h"

namespace batchweave {
namespace {

using Offsets = flatbuffers::Vector<uint32_t>;

// Appends the producers of the newest entries, newest first, until there are enough.
Result<void> AddNewest(ByteView rest, const Offsets& entries, std::vector<std::string>& producers) {
  for (uint32_t i = entries.size(); i > 0 && producers.size() < kGlimpsedEntriesMax; --i) {
    const auto* entry = BW_TRY(VerifiedElement<wire::Entry>(rest, entries, i - 1, kRestOfManifest));
    // Before it is copied: all of them may be one long string.
    const std::string_view producer = entry->producer()->string_view();
    if (!CheckName("producer", producer).ok()) return Error{ErrorCode::kCorrupt, "producer has no valid name"};
    producers.emplace_back(producer);
  }
  return {};
}

// Rows are ordered by producer. Null: it has none.
Result<const wire::ProducerRow*> FindRow(ByteView rest, const Offsets& rows, std::string_view producer) {
  uint32_t first = 0;
  uint32_t end = rows.size();
  while (first < end) {
    const uint32_t middle = first + (end - first) / 2;
    const auto* row = BW_TRY(VerifiedElement<wire::ProducerRow>(rest, rows, middle, kRestOfManifest));
    const std::string_view found = row->producer()->string_view();
    if (found == producer) return row;
    (found < producer ? first : end) = found < producer ? middle + 1 : middle;
  }
  return static_cast<const wire::ProducerRow*>(nullptr);
}

}  // namespace

Result<ManifestGlimpse> GlimpseManifest(ByteView object, std::span<const std::string> producers) {
  const ManifestHead head = BW_TRY(DecodeManifestHead(object));
  const ByteView rest = object.subspan(head.rest_offset);
  BW_TRY(CheckRestBlock(head, rest));
  const AlignedBlock aligned(rest);
  const wire::RestOffsets& table = *BW_TRY(VerifiedRoot<wire::RestOffsets>(aligned.view(), kRestOfManifest));
  ManifestGlimpse glimpse{.manifest = head.manifest};
  glimpse.manifest.tail.clear();
  glimpse.manifest.groups.clear();
  if (table.archived_rows() != nullptr) glimpse.manifest.archived_rows = BW_TRY(ReadArchiveRef(*table.archived_rows()));
  CopyBudget budget(rest);
  for (const std::string& producer : producers) {
    if (table.rows() == nullptr) break;
    const wire::ProducerRow* row = BW_TRY(FindRow(aligned.view(), *table.rows(), producer));
    if (row == nullptr) continue;
    glimpse.manifest.rows.push_back(BW_TRY(ReadRow(*row, budget)));
    BW_TRY(CheckRow(glimpse.manifest.rows.back()));
  }
  std::ranges::sort(glimpse.manifest.rows, {}, &ProducerRow::producer);
  glimpse.recent = RecentProducers(head.manifest);
  std::ranges::reverse(glimpse.recent);
  if (table.entries() != nullptr) BW_TRY(AddNewest(aligned.view(), *table.entries(), glimpse.recent));
  std::ranges::reverse(glimpse.recent);
  return glimpse;
}

std::vector<std::string> RecentProducers(const Manifest& manifest) {
  const size_t count = std::min(manifest.tail.size(), kGlimpsedEntriesMax);
  std::vector<std::string> recent;
  for (size_t i = manifest.tail.size() - count; i < manifest.tail.size(); ++i)
    recent.push_back(manifest.tail[i].producer);
  return recent;
}

}  // namespace batchweave
