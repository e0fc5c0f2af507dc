// Commits what the producers of one process have uploaded: one committer for all of them, one version for all runs.
//
// Synchronous: a call does its work and returns. Not safe for concurrent use: one loop calls it.
#pragma once

#include <optional>

#include "batchweave/base/result.h"
#include "batchweave/log/manifest_log.h"
#include "batchweave/log/pending_commit.h"
#include "batchweave/log/producer_rows.h"
#include "batchweave/producer/commit_law.h"
#include "batchweave/producer/pipeline.h"

namespace batchweave {

class Committer {
 public:
  // All must outlive the committer.
  Committer(Env env, ManifestLog& log, Pipeline& pipeline, CommitLaw& law);

  // Waits as the law says, then commits what is uploaded, and tells the producers. Errors are told to them too, and
  // end nothing: what was not committed is tried by the next call. Returns early when the pipeline stops.
  void CommitOnce();

 private:
  void AwaitTurn();
  Result<void> Attempt();
  Result<void> Begin();
  Result<void> FreezeAgain();  // For kNewBodyForTheSlot.
  void See(LoggedManifest version);
  void Backoff(const Result<void>& result);

  const Env env_;
  ManifestLog& log_;
  Pipeline& pipeline_;
  CommitLaw& law_;
  std::optional<LoggedManifest> base_;  // The newest version seen.
  RowTable row_table_;
  // The attempt under way. After an unknown outcome it alone is tried, until it is decided.
  std::optional<PendingCommit> attempt_;
  CollectedRuns attempted_;
  std::vector<Verdict> verdicts_;
  TimePoint attempt_began_{};
  Duration retry_delay_{0};
};

}  // namespace batchweave
