// What a version takes from the producers of one process: the acceptance rules of docs/protocol.md, as a pure function.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "batchweave/format/manifest.h"

namespace batchweave {

// Uploaded batches of one producer, ready to be named by a version.
struct CommitRun {
  std::string producer;
  Incarnation incarnation;
  std::vector<Entry> entries{};  // Contiguous by seq, in order.
  bool finish = false;           // After these nothing follows: mark the producer finished in the same version.
  bool forget = false;           // And let its row go once nothing can need it any more.
};

enum class Verdict {
  kTaken,   // The version names them; what the row covered already is left out.
  kFenced,  // The producer has a newer incarnation, or its row is gone or behind what was committed.
  kSealed,  // The stream has ended.
};

struct CommitPlan {
  Manifest next;
  std::vector<Verdict> verdicts;  // One a run.
  bool changes = false;           // `next` differs from what it was built on.
};

// Adds `runs` to `next`, which BeginNext made of the newest version and BringRows completed for their producers. Every
// precondition is checked against it, every time: whatever was true of an older version proves nothing (faults C3, M9).
CommitPlan PlanCommit(Manifest next, std::span<const CommitRun> runs, int64_t committed_at_ns);

}  // namespace batchweave
