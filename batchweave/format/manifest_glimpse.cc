#include "batchweave/format/manifest_glimpse.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <utility>

#include "batchweave/format/history_codec.h"
#include "batchweave/format/manifest_blocks.h"
#include "batchweave/format/manifest_generated.h"
#include "batchweave/format/object_frame.h"
#include "batchweave/format/verified_root.h"

namespace batchweave {
namespace {

using Entries = flatbuffers::Vector<flatbuffers::Offset<wire::Entry>>;
using Rows = flatbuffers::Vector<flatbuffers::Offset<wire::ProducerRow>>;

// Appends the producers of the newest entries, newest first, until there are enough.
void AddNewest(const Entries* entries, std::vector<std::string>& producers) {
  if (entries == nullptr) return;
  for (flatbuffers::uoffset_t i = entries->size(); i > 0 && producers.size() < kGlimpsedEntriesMax; --i) {
    producers.push_back(entries->Get(i - 1)->producer()->str());
  }
}

// Rows are ordered by producer.
const wire::ProducerRow* FindRow(const Rows& rows, std::string_view producer) {
  flatbuffers::uoffset_t first = 0;
  flatbuffers::uoffset_t end = rows.size();
  while (first < end) {
    const flatbuffers::uoffset_t middle = first + (end - first) / 2;
    const std::string_view found = rows.Get(middle)->producer()->string_view();
    if (found == producer) return rows.Get(middle);
    (found < producer ? first : end) = found < producer ? middle + 1 : middle;
  }
  return nullptr;
}

}  // namespace

Result<ManifestGlimpse> GlimpseManifest(ByteView object, std::span<const std::string> producers) {
  const ManifestHead head = BW_TRY(DecodeManifestHead(object));
  const ByteView rest = object.subspan(head.rest_offset);
  BW_TRY(CheckRestBlock(head, rest));
  const AlignedBlock aligned(rest);
  const wire::Rest& table = *BW_TRY(VerifiedRoot<wire::Rest>(aligned.view(), "rest of the manifest"));
  ManifestGlimpse glimpse{.manifest = head.manifest};
  glimpse.manifest.tail.clear();
  glimpse.manifest.groups.clear();
  if (table.archived_rows() != nullptr) glimpse.manifest.archived_rows = BW_TRY(ReadArchiveRef(*table.archived_rows()));
  CopyBudget budget(rest);
  for (const std::string& producer : producers) {
    const wire::ProducerRow* row = table.rows() == nullptr ? nullptr : FindRow(*table.rows(), producer);
    if (row == nullptr) continue;
    glimpse.manifest.rows.push_back(BW_TRY(ReadRow(*row, budget)));
    BW_TRY(CheckRow(glimpse.manifest.rows.back()));
  }
  std::ranges::sort(glimpse.manifest.rows, {}, &ProducerRow::producer);
  glimpse.recent = RecentProducers(head.manifest);
  std::ranges::reverse(glimpse.recent);
  AddNewest(table.entries(), glimpse.recent);
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
