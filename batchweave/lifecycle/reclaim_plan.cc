#include "batchweave/lifecycle/reclaim_plan.h"

#include <algorithm>
#include <utility>

#include "batchweave/base/mutation.h"

namespace batchweave {

ReclaimJudge::ReclaimJudge(const StreamKeys& keys, const Manifest& newest, std::vector<ProducerRow> rows,
                           ReachedKeys reached)
    : keys_(keys),
      version_(newest.version),
      sealed_(newest.sealed),
      groups_(newest.groups),
      rows_(std::move(rows)),
      reached_(std::move(reached)) {}

Fate ReclaimJudge::Judge(std::string_view key) const {
  const std::optional<ParsedKey> parsed = ParseKey(keys_, key);
  if (!parsed) return Fate::kNotUnderstood;
  if (reached_.Contains(key)) return Fate::kAlive;
  switch (parsed->kind) {
    case ParsedKey::Kind::kData:
    case ParsedKey::Kind::kIntent: return IsBatchDead(*parsed) ? Fate::kDead : Fate::kAlive;
    case ParsedKey::Kind::kOpening: return IsOpeningDead(*parsed) ? Fate::kDead : Fate::kAlive;
    // Written for a version that is decided, and not named by the newest: the attempt was lost, or it was trimmed.
    case ParsedKey::Kind::kArchive: return parsed->version <= version_ ? Fate::kDead : Fate::kAlive;
    // A hint of a group that comes back may be deleted late: it is then missing, which hints may always be.
    case ParsedKey::Kind::kProgress:
      return std::ranges::binary_search(groups_, parsed->name, {}, &GroupRow::name) ? Fate::kAlive : Fate::kDead;
    case ParsedKey::Kind::kManifest:
    case ParsedKey::Kind::kPlaceholder: return Fate::kAlive;
  }
  return Fate::kNotUnderstood;
}

const ProducerRow* ReclaimJudge::FindRow(std::string_view producer) const {
  const auto row = std::ranges::lower_bound(rows_, producer, {}, &ProducerRow::producer);
  const bool found = row != rows_.end() && row->producer == producer && row->state != ProducerRow::State::kGone;
  return found ? &*row : nullptr;
}

// The version does not reach it. Can a later one?
bool ReclaimJudge::IsBatchDead(const ParsedKey& key) const {
  // Opened later than the version that is asked, which therefore knows nothing of it (faults D1, M17).
  if (key.incarnation.value > version_.value && !BW_MUTATION(kReclaimByAnOldVersion)) return false;
  const ProducerRow* row = FindRow(key.name);
  const bool fenced = row == nullptr || row->incarnation != key.incarnation;
  if (BW_MUTATION(kReclaimKeepsFenced) && fenced) return false;
  if (BW_MUTATION(kReclaimTakesUploads)) return true;
  if (sealed_ || fenced) return true;
  const bool covered = key.seq <= row->seq && !BW_MUTATION(kReclaimKeepsCovered);
  return covered || row->state != ProducerRow::State::kOpen;
}

bool ReclaimJudge::IsOpeningDead(const ParsedKey& key) const {
  const ProducerRow* row = FindRow(key.name);
  if (sealed_ || (row != nullptr && row->incarnation.value > key.version.value)) return true;
  return version_.value > kOpeningVersionsMax && version_.value - kOpeningVersionsMax > key.version.value;
}

}  // namespace batchweave
