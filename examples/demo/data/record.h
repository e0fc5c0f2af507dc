// All that a rank of the demo knows: what it folded, and how far it read. Its checkpoint is this in one file, so the
// two never disagree: a rank that is killed goes on from its last record and folds nothing twice.
#pragma once

#include <cstdint>
#include <string>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"
#include "examples/demo/data/ledger.h"
#include "examples/demo/data/statistic.h"

namespace batchweave::demo {

struct Record {
  uint64_t position = 0;  // The next step to read: everything below is folded.
  Statistic statistic;
  Ledger ledger;

  // Adds one slice; `position` stays. Errors: kCorrupt (not a slice), and then nothing was added.
  Result<void> Fold(ByteView slice);

  // Adds what another rank folded; `position` stays.
  void Merge(const Record& other);

  // Replaces the file at once and durably. Errors: as ReplaceFile.
  Result<void> Save(const std::string& path) const;

  // Errors: kNotFound (never saved: begin with Record{}), kCorrupt (not a record, or altered), as ReadFile.
  static Result<Record> Load(const std::string& path);

  friend bool operator==(const Record&, const Record&) = default;
};

}  // namespace batchweave::demo
