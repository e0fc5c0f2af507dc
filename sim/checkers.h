// The checkers, one an invariant of docs/protocol.md. I2 and I3 are the ledger's, which reads every version anyway.
#pragma once

#include <memory>
#include <vector>

#include "sim/checker.h"
#include "sim/ledger.h"

namespace batchweave::sim {

// What a checker looks at, and where it tells what it found. Must outlive it.
struct Evidence {
  const Server& server;
  const Ledger& ledger;
  const Scheduler& scheduler;
  std::vector<Violation>& violations;

  void Report(std::string invariant, std::string message, std::string about = {}) const;
};

// The entries that `after`, which follows `before`, brought.
template <typename Visit>
void ForEachNewEntry(const Ledger& ledger, const Manifest& before, const Manifest& after, Visit visit) {
  for (Step step = before.next_step; step < after.next_step; step = step + 1) {
    visit(step, ledger.steps()[step.value].entry);
  }
}

// The rows that `after`, which follows `before`, opened. An opening may go straight into the table; one that cannot be
// read is told of by the checker of sequences.
template <typename Visit>
void ForEachOpening(const Ledger& ledger, const Manifest& before, const Manifest& after, Visit visit) {
  const auto visit_all = [&](const std::vector<ProducerRow>& rows) {
    for (const ProducerRow& row : rows) {
      if (row.incarnation.value == after.version.value) visit(row);
    }
  };
  visit_all(after.rows);
  if (after.archived_rows == before.archived_rows || !after.archived_rows) return;
  if (const Result<std::vector<ProducerRow>> rows = ledger.Rows(); rows.ok()) visit_all(*rows);
}

using Checkers = std::vector<std::unique_ptr<Checker>>;

void AddLogCheckers(const Evidence& evidence, Checkers& checkers);           // I1, I4.
void AddProducerCheckers(const Evidence& evidence, Checkers& checkers);      // I5, I6, I7.
void AddHoldCheckers(const Evidence& evidence, Checkers& checkers);          // I8, I9.
void AddReaderCheckers(const Evidence& evidence, Checkers& checkers);        // I10, I11, I12.
void AddAnnouncementCheckers(const Evidence& evidence, Checkers& checkers);  // I13.

}  // namespace batchweave::sim
