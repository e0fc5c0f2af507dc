// What the producers of this process have announced, until it is known to be committed.
//
// What was announced is fixed (M15): under one incarnation a seq that was in an announcement never gets another entry. It
// holds because an uploaded batch never changes: see PendingBatch::packed.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/log/manifest_log.h"
#include "batchweave/producer/commit_plan.h"

namespace batchweave {

class OwnAnnouncements {
 public:
  // `log` must outlive it.
  explicit OwnAnnouncements(ManifestLog& log) : log_(log) {}

  // Whether `run` has anything that was not announced and can be by now.
  bool LacksSomeOf(const CommitRun& run) const;

  // Announces all of `run`, as far as kIntentBytesMax allows. Errors: those of PutUnique.
  Result<void> Announce(const CommitRun& run, TimePoint deadline);

  bool empty() const { return announced_.empty(); }

  // The key of one that was announced first of its producer's. There must be any.
  const std::string& Oldest() const { return announced_.begin()->second.front().key; }
  // It is gone, by whoever it was. If it is not committed then it must be announced anew.
  void ForgetOldest();

  // Whose announcements there are.
  std::vector<std::string> Producers() const;
  // The keys of those that no version from `manifest` on takes; it must have the rows of Producers().
  std::vector<std::string> Dead(const Manifest& manifest) const;
  void Forget(const std::vector<std::string>& keys);
  void KeepOnly(const std::unordered_set<std::string>& producers);

 private:
  struct Announcement {
    Incarnation incarnation;
    uint64_t seq = 0;      // As in the key.
    bool is_full = false;  // There was more than it could hold, which is announced when this one is committed.
    std::string key;
  };

  ManifestLog& log_;
  std::map<std::string, std::deque<Announcement>, std::less<>> announced_;  // By producer, none empty; oldest first.
};

}  // namespace batchweave
