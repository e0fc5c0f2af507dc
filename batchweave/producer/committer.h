// Commits what the producers of one process have uploaded, and what those of others have announced: one committer for all
// producers of the process, one version for all that is taken. docs/protocol.md, Combining; docs/commit-control.md.
//
// Synchronous: a call does its work and returns. Not safe for concurrent use: one loop calls it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/log/manifest_log.h"
#include "batchweave/log/pending_commit.h"
#include "batchweave/log/producer_rows.h"
#include "batchweave/producer/announced_reader.h"
#include "batchweave/producer/commit_law.h"
#include "batchweave/producer/own_announcements.h"
#include "batchweave/producer/pipeline.h"
#include "batchweave/producer/seen_log.h"

namespace batchweave {

class Committer {
 public:
  // All must outlive the committer.
  Committer(Env env, ManifestLog& log, Pipeline& pipeline, CommitLaw& law);

  // Waits as the law says, and announces meanwhile; then commits what is uploaded, and tells the producers. Errors are told
  // to them too, and end nothing: what was not committed is tried by the next call. Returns early when the pipeline stops,
  // or when another has committed it all.
  void CommitOnce();

  // There may be something to commit though nothing is pending here.
  bool serves() const { return law_.serves(); }

 private:
  Result<bool> AwaitTurn();
  Result<void> Announce(const CollectedRuns& runs);
  Result<void> Ask();
  Result<void> Look();
  Result<void> Attempt();
  Result<void> Begin();
  Result<void> ReadBase();
  Result<void> Freeze(const Announced& announced);
  Result<void> FreezeAgain();  // For kNewBodyForTheSlot.
  void Build(LoggedManifest version);
  Result<void> Settle(Manifest seen, CollectedRuns ready, bool is_gone);
  std::vector<std::string> Waiting(const CollectedRuns& runs) const;
  void DeleteDead();
  void Backoff(const Result<void>& result);

  const Env env_;
  ManifestLog& log_;
  Pipeline& pipeline_;
  CommitLaw& law_;
  AnnouncedReader others_;
  OwnAnnouncements own_;
  // The newest version seen, while it may still be the newest: it is large.
  std::optional<LoggedManifest> base_;
  SeenLog seen_;
  RowTable row_table_;
  // The attempt under way. After an unknown outcome it alone is tried, until it is decided.
  bool for_all_ = false;
  std::optional<PendingCommit> attempt_;
  CollectedRuns attempted_;
  std::vector<Verdict> verdicts_;
  size_t taken_ = 0;
  std::vector<std::string> dead_;  // Announcements of no use once the attempt has won.
  TimePoint attempt_began_{};
  Duration retry_delay_{0};
};

}  // namespace batchweave
