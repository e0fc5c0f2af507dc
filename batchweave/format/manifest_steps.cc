#include "batchweave/format/manifest_steps.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <utility>

#include "batchweave/format/entry_codec.h"
#include "batchweave/format/history_codec.h"
#include "batchweave/format/manifest_blocks.h"
#include "batchweave/format/manifest_check.h"
#include "batchweave/format/manifest_generated.h"
#include "batchweave/format/object_frame.h"
#include "batchweave/format/verified_root.h"

namespace batchweave {

Result<ManifestSteps> DecodeManifestSteps(ByteView object, Step first, size_t count) {
  ManifestHead head = BW_TRY(DecodeManifestHead(object));
  const ByteView rest = object.subspan(head.rest_offset);
  BW_TRY(CheckRestBlock(head, rest));
  const AlignedBlock aligned(rest);
  const wire::RestOffsets& table = *BW_TRY(VerifiedRoot<wire::RestOffsets>(aligned.view(), kRestOfManifest));
  ManifestSteps steps{.manifest = std::move(head.manifest), .hash = head.hash};
  CopyBudget budget(rest);
  BW_TRY(ReadArchives(table, budget, steps.manifest));

  const std::vector<Entry>& newest = steps.manifest.tail;
  const uint64_t older = table.entries() == nullptr ? 0 : table.entries()->size();
  if (older > rest.size() / kBytesATableMin) return Error{ErrorCode::kCorrupt, "more entries than there is room for"};
  const uint64_t in_tail = older + newest.size();
  if (in_tail > steps.manifest.next_step.value) return Error{ErrorCode::kCorrupt, "more entries than steps"};
  const Step tail_first{steps.manifest.next_step.value - in_tail};
  BW_TRY(CheckSteps(steps.manifest, tail_first));

  steps.first = std::max(first, tail_first);
  const uint64_t begin = std::min(steps.first.value - tail_first.value, in_tail);
  const uint64_t end =
      begin + std::min<uint64_t>(count - std::min<uint64_t>(count, steps.first.value - first.value), in_tail - begin);
  steps.entries.reserve(end - begin);
  for (uint64_t i = begin; i < end; ++i) {
    if (i < older) {
      const auto* entry = BW_TRY(
          VerifiedElement<wire::Entry>(aligned.view(), *table.entries(), static_cast<uint32_t>(i), kRestOfManifest));
      steps.entries.push_back(BW_TRY(ReadEntry(*entry, budget)));
    } else {
      steps.entries.push_back(newest[i - older]);
    }
  }
  return steps;
}

ManifestSteps StepsOf(Manifest manifest, Hash128 hash) {
  ManifestSteps steps{.hash = hash, .first = manifest.tail_first()};
  steps.entries = std::exchange(manifest.tail, {});
  if (!steps.entries.empty()) manifest.tail.push_back(steps.entries.back());
  steps.manifest = std::move(manifest);
  return steps;
}

}  // namespace batchweave
