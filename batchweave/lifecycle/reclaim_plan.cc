#include "batchweave/lifecycle/reclaim_plan.h"

#include <algorithm>
#include <utility>

#include "batchweave/log/dead_keys.h"

namespace batchweave {

ReclaimJudge::ReclaimJudge(const StreamKeys& keys, Manifest newest, std::vector<ProducerRow> rows, ReachedKeys reached)
    : keys_(keys), newest_(std::move(newest)), rows_(std::move(rows)), reached_(std::move(reached)) {}

Fate ReclaimJudge::Judge(std::string_view key) const {
  const std::optional<ParsedKey> parsed = ParseKey(keys_, key);
  if (!parsed) return Fate::kNotUnderstood;
  if (reached_.Contains(key)) return Fate::kAlive;
  switch (parsed->kind) {
    case ParsedKey::Kind::kData:
      return IsBatchDead(newest_, FindRow(parsed->name), parsed->incarnation, parsed->seq) ? Fate::kDead : Fate::kAlive;
    case ParsedKey::Kind::kIntent:
    case ParsedKey::Kind::kOpening:
      return IsIntentDead(newest_, FindRow(parsed->name), *parsed) ? Fate::kDead : Fate::kAlive;
    // Written for a version that is decided, and not named by the newest: the attempt was lost, or it was trimmed.
    case ParsedKey::Kind::kArchive: return parsed->version <= newest_.version ? Fate::kDead : Fate::kAlive;
    // A hint of a group that comes back may be deleted late: it is then missing, which hints may always be.
    case ParsedKey::Kind::kProgress:
      return std::ranges::binary_search(newest_.groups, parsed->name, {}, &GroupRow::name) ? Fate::kAlive : Fate::kDead;
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

}  // namespace batchweave
