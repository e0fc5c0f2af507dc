// Whether all arrived: what the ranks folded, against the sources and against a process that nothing disturbed.
#pragma once

#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "examples/demo/data/corpus.h"
#include "examples/demo/data/record.h"

namespace batchweave::demo {

// The files of all ranks' records, mesh after mesh.
struct RecordPaths {
  std::vector<std::string> train;
  std::vector<std::string> eval;
  std::string reference;
};

struct Verdict {
  AuditReport train_audit{};  // By sample id, against a listing of the sources.
  AuditReport eval_audit{};
  Record train;  // Of all its ranks together.
  Record eval;
  Record reference;  // Its position: how many steps there should be.

  bool statistic_identical() const {
    return train.statistic == reference.statistic && eval.statistic == reference.statistic;
  }
};

// Errors: as Record::Load.
Result<Verdict> Judge(const Corpus& corpus, const RecordPaths& paths);

}  // namespace batchweave::demo
