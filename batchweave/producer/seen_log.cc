#include "batchweave/producer/seen_log.h"

#include <algorithm>
#include <string_view>

namespace batchweave {
namespace {

using Names = std::unordered_set<std::string>;

// Distinct producers of others among the newest `count` of `recent`.
size_t CountOthers(const std::vector<std::string>& recent, size_t count, const Names& ours) {
  std::unordered_set<std::string_view> others;
  for (size_t i = recent.size() - count; i < recent.size(); ++i) {
    if (!ours.contains(recent[i])) others.insert(recent[i]);
  }
  return others.size();
}

// Distinct producers of others that came in with the newest entry: one version has one time of commit.
size_t CountInNewest(const std::vector<Entry>& tail, const Names& ours) {
  std::unordered_set<std::string_view> others;
  for (auto entry = tail.rbegin(); entry != tail.rend(); ++entry) {
    if (entry->committed_at_ns != tail.back().committed_at_ns) break;
    if (!ours.contains(entry->producer)) others.insert(entry->producer);
  }
  return others.size();
}

}  // namespace

CommitLaw::Seen SeenLog::See(const Manifest& version, const Names& ours) {
  const bool is_first = version_ == Version{};
  CommitLaw::Seen tells = Advance(version, RecentProducers(version), ours);
  if (is_first) tells.crowd = static_cast<double>(CountInNewest(version.tail, ours));
  return tells;
}

CommitLaw::Seen SeenLog::See(const ManifestGlimpse& version, const Names& ours) {
  return Advance(version.manifest, version.recent, ours);
}

CommitLaw::Seen SeenLog::Advance(const Manifest& version, const std::vector<std::string>& recent, const Names& ours) {
  CommitLaw::Seen tells{.others = CountOthers(recent, recent.size(), ours)};
  if (version_ != Version{} && version.version > version_) {
    tells.versions = version.version.value - version_.value;
    const uint64_t added = version.next_step.value - end_.value;
    const auto a_version = static_cast<double>(added) / static_cast<double>(tells.versions);
    // Of more than are glimpsed each is taken for another producer's.
    const bool are_seen = added <= recent.size();
    tells.crowd = are_seen ? std::min(a_version, static_cast<double>(CountOthers(recent, added, ours))) : a_version;
  }
  version_ = version.version;
  end_ = version.next_step;
  return tells;
}

}  // namespace batchweave
