// What a version takes from producers: the acceptance rules of docs/protocol.md, as a pure function.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "batchweave/format/intent.h"
#include "batchweave/format/manifest.h"

namespace batchweave {

// Uploaded batches of one producer, ready to be named by a version.
struct CommitRun {
  std::string producer;
  Incarnation incarnation;
  std::vector<Entry> entries{};  // Contiguous by seq, in order.
  uint64_t committed_seq = 0;    // Where there are no entries: of the last batch, which is committed.
  bool finish = false;           // After these nothing follows: mark the producer finished in the same version.
  bool forget = false;           // And let its row go once nothing can need it any more.

  uint64_t first_seq() const { return entries.empty() ? committed_seq + 1 : entries.front().seq; }
  uint64_t last_seq() const { return entries.empty() ? committed_seq : entries.back().seq; }
};

enum class Verdict {
  kTaken,   // The version names them; what the row covered already is left out.
  kFenced,  // The producer has a newer incarnation, or its row is gone or behind what was committed.
  kSealed,  // The stream has ended.
};

// What other committers' producers have announced, of this stream.
struct Announced {
  std::vector<BatchIntent> batches{};
  std::vector<OpeningIntent> openings{};
};

struct CommitPlan {
  Manifest next;
  std::vector<Verdict> verdicts;  // One a run.
  bool changes = false;           // `next` differs from what it was built on.
  size_t taken = 0;               // Announcements that changed something.
};

// Adds `runs`, which are this committer's own, and `announced` to `next`, which BeginNext made of the newest version and
// BringRows completed for all their producers. Every precondition is checked against it, every time: whatever was true of
// an older version proves nothing (faults C3, M9, M16). What was announced and may not be taken is passed over.
CommitPlan PlanCommit(Manifest next, std::span<const CommitRun> runs, int64_t committed_at_ns,
                      const Announced& announced = {});

// What `manifest`, completed by BringRows, says of a run by itself.
Verdict JudgeRun(const Manifest& manifest, const CommitRun& run);

// Makes `row` of `next` the opening's, which some producer waits for: a new incarnation.
void TakeOpening(const Manifest& next, uint64_t nonce, ProducerRow& row);

}  // namespace batchweave
