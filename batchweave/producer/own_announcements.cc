#include "batchweave/producer/own_announcements.h"

#include <algorithm>
#include <utility>

#include "batchweave/base/fault_point.h"
#include "batchweave/base/mutation.h"
#include "batchweave/log/dead_keys.h"
#include "batchweave/log/producer_rows.h"
#include "batchweave/store/retrying_store.h"

namespace batchweave {

bool OwnAnnouncements::LacksSomeOf(const CommitRun& run) const {
  const auto known = announced_.find(run.producer);
  if (known == announced_.end() || known->second.back().incarnation != run.incarnation) return true;
  return !known->second.back().is_full && known->second.back().seq < run.last_seq() + (run.finish ? 1 : 0);
}

Result<void> OwnAnnouncements::Announce(const CommitRun& run, TimePoint deadline) {
  BatchIntent intent{.stream_id = log_.keys().stream_id,
                     .producer = run.producer,
                     .incarnation = run.incarnation,
                     .last_seq = run.last_seq(),
                     .entries = run.entries,
                     .finish = run.finish,
                     .forget = run.forget};
  if (BW_MUTATION(kAnnouncesTheLastCursor)) {
    for (Entry& entry : intent.entries) entry.cursor = run.entries.back().cursor;
  }
  Bytes object = EncodeIntent(intent);
  bool is_full = false;
  while (object.size() > kIntentBytesMax && intent.entries.size() > 1) {
    is_full = true;
    intent.entries.resize((intent.entries.size() + 1) / 2);
    intent.last_seq = intent.entries.back().seq;
    intent.finish = false;
    object = EncodeIntent(intent);
  }
  const Env env = log_.env();
  const std::string key = log_.keys().Intent(run.producer, run.incarnation, intent.key_seq(), env.random.Next());
  const ByteView piece = object;
  BW_TRY(PutUnique(env, key, {&piece, 1}, deadline));
  BW_FAULT_POINT("batches.announced");
  std::deque<Announcement>& announced = announced_[run.producer];
  if (!announced.empty() && announced.back().incarnation != run.incarnation) announced.clear();
  announced.push_back({.incarnation = run.incarnation, .seq = intent.key_seq(), .is_full = is_full, .key = key});
  return {};
}

void OwnAnnouncements::ForgetOldest() {
  const auto first = announced_.begin();
  first->second.pop_front();
  if (first->second.empty()) announced_.erase(first);
}

std::vector<std::string> OwnAnnouncements::Producers() const {
  std::vector<std::string> names;
  for (const auto& [producer, announced] : announced_) names.push_back(producer);
  return names;
}

std::vector<std::string> OwnAnnouncements::Dead(const Manifest& manifest) const {
  std::vector<std::string> dead;
  for (const auto& [producer, announced] : announced_) {
    const ProducerRow* row = FindRow(manifest, producer);
    for (const Announcement& announcement : announced) {
      if (IsBatchDead(manifest, row, announcement.incarnation, announcement.seq)) dead.push_back(announcement.key);
    }
  }
  return dead;
}

void OwnAnnouncements::Forget(const std::vector<std::string>& keys) {
  for (auto& [producer, announced] : announced_) {
    std::erase_if(announced, [&](const Announcement& one) { return std::ranges::find(keys, one.key) != keys.end(); });
  }
  std::erase_if(announced_, [](const auto& of_producer) { return of_producer.second.empty(); });
}

void OwnAnnouncements::KeepOnly(const std::unordered_set<std::string>& producers) {
  std::erase_if(announced_, [&](const auto& of_producer) { return !producers.contains(of_producer.first); });
}

}  // namespace batchweave
