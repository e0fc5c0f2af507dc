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

using Checkers = std::vector<std::unique_ptr<Checker>>;

void AddLogCheckers(const Evidence& evidence, Checkers& checkers);           // I1, I4.
void AddProducerCheckers(const Evidence& evidence, Checkers& checkers);      // I5, I6, I7.
void AddHoldCheckers(const Evidence& evidence, Checkers& checkers);          // I8, I9.
void AddReaderCheckers(const Evidence& evidence, Checkers& checkers);        // I10, I11, I12.
void AddAnnouncementCheckers(const Evidence& evidence, Checkers& checkers);  // I13.

}  // namespace batchweave::sim
