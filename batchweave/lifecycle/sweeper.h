// Deletes the dead in batches, and keeps count. Knows nothing of why they are dead: reclaim_plan.h judges.
#pragma once

#include <string>
#include <vector>

#include "batchweave/format/keys.h"
#include "batchweave/lifecycle/reclaim.h"
#include "batchweave/lifecycle/reclaim_plan.h"
#include "batchweave/store/object_store.h"

namespace batchweave {

// Not safe for concurrent use.
class Sweeper {
 public:
  // `store` must outlive the sweeper. Of the options, dry_run and progress count.
  Sweeper(ObjectStore& store, StreamKeys keys, ReclaimOptions options);

  // Counts an object, and deletes it, with others, if it is dead. Errors: as DeleteBatch.
  Result<void> Take(const ListedObject& object, Fate fate);

  // Deletes what was taken and is still there. Errors: as Take.
  Result<void> Flush();

  const ReclaimReport& report() const { return report_; }

 private:
  Result<void> KeepFolder(const std::string& prefix, bool& kept);

  ObjectStore& store_;
  const StreamKeys keys_;
  const ReclaimOptions options_;
  ReclaimReport report_;
  std::vector<std::string> batch_;
  uint64_t batch_bytes_ = 0;
  bool kept_archive_ = false;
  bool kept_intent_ = false;
};

}  // namespace batchweave
