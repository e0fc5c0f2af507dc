// A training job's hold on the stream, as the one rank has it that opened the session: it registers checkpoints, and so
// says what the job may still come back to. Everything that no group holds is trimmed.
//
// Opened by one rank at each (re)start of the job; every other rank is given session(), by the job's own broadcast, and
// opens its consumer with it. Safe for concurrent use but for ReportProgress.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "batchweave/base/result.h"
#include "batchweave/lifecycle/checkpoint.h"
#include "batchweave/lifecycle/reclaim.h"
#include "batchweave/log/manifest_log.h"
#include "batchweave/log/progress.h"

namespace batchweave {

struct GroupOptions {
  Step start;  // Where the job (re)starts: held until the session's first checkpoint.
};

struct CheckpointOptions {
  size_t keep_last = kKeepLastDefault;  // Of those that are not pinned, by order of registration.
  bool pin = false;                     // Kept until released, and not counted by keep_last.
  bool reclaim = false;                 // Remove at once what this checkpoint let go of; else a reclaim does, later.
};

class Group {
 public:
  const std::string& name() const { return holder_.group; }
  Session session() const { return holder_.session; }

  // Registers a checkpoint, once the model's own is durable on every rank: `position` is the next step that a job
  // restored from it reads. A name that is there already moves. Trims in the same version.
  // Errors: kFenced (a newer session has replaced this one: stop), kTrimmed, kInvalidArgument (beyond the newest step;
  // the name), kNotFound (the group was dropped, the stream deleted), kDenied (too many checkpoints: release some; or
  // the right to delete is missing, where reclaim is asked for: the checkpoint is registered), kUnavailable
  // and kUnknownOutcome (call again: it is the same). What a reclaim that failed has left is for the next whole one.
  Result<void> Checkpoint(std::string_view name, Step position, CheckpointOptions options = {});

  // Tells producers how far the job has read, so that those with a limit wait for it. To be called after each step, and
  // again where Next() was kStalled (an older hint, long under way, may have landed on the last one): it does nothing for
  // a few seconds after it told something, but where the job has read all that was there.
  // One thread at a time. Errors: kDenied, once: after that nothing more is told.
  Result<void> ReportProgress(Step reached) { return progress_->Report(reached); }

  // Lets go of one checkpoint. Errors: kNotFound, kFenced, kInvalidArgument (the last one: drop the group instead),
  // kUnavailable, kUnknownOutcome.
  Result<void> Release(std::string_view name);

 private:
  friend class Stream;
  Group(ManifestLog& log, GroupSession holder)
      : log_(&log), holder_(std::move(holder)), progress_(std::make_unique<ProgressReporter>(log, holder_.group)) {}

  ManifestLog* log_;
  GroupSession holder_;
  std::unique_ptr<ProgressReporter> progress_;
};

}  // namespace batchweave
