#include "batchweave/log/dead_keys.h"

#include "batchweave/base/mutation.h"

namespace batchweave {

bool IsBatchDead(const Manifest& manifest, const ProducerRow* row, Incarnation incarnation, uint64_t seq) {
  // Opened later than the version that is asked, which therefore knows nothing of it (faults D1, M17).
  if (incarnation.value > manifest.version.value && !BW_MUTATION(kReclaimByAnOldVersion)) return false;
  const bool fenced = row == nullptr || row->incarnation != incarnation;
  if (BW_MUTATION(kReclaimKeepsFenced) && fenced) return false;
  if (BW_MUTATION(kReclaimTakesUploads)) return true;
  if (manifest.sealed || fenced) return true;
  const bool covered = seq <= row->seq && !BW_MUTATION(kReclaimKeepsCovered);
  return covered || row->state != ProducerRow::State::kOpen;
}

bool IsOpeningDead(const Manifest& manifest, const ProducerRow* row, Version base) {
  if (manifest.sealed) return true;
  if (row != nullptr && row->incarnation.value > base.value && !BW_MUTATION(kOpeningOfAnyBase)) return true;
  return manifest.version.value > kOpeningVersionsMax && manifest.version.value - kOpeningVersionsMax > base.value;
}

bool IsIntentDead(const Manifest& manifest, const ProducerRow* row, const ParsedKey& key) {
  if (key.kind == ParsedKey::Kind::kOpening) return IsOpeningDead(manifest, row, key.version);
  return IsBatchDead(manifest, row, key.incarnation, key.seq);
}

}  // namespace batchweave
