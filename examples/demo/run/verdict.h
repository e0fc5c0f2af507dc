// Whether all arrived: what the ranks folded, against the sources and against a process that nothing disturbed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "examples/demo/data/corpus.h"
#include "examples/demo/data/record.h"

namespace batchweave::demo {

struct Verdict {
  AuditReport audit;  // By sample id, against a listing of the sources.
  Record ranks;       // Of all ranks of all meshes, together.
  Record reference;   // Its position: how many steps there should be.
  bool statistic_identical() const { return ranks.statistic == reference.statistic; }
};

// Errors: as Record::Load.
Result<Verdict> Judge(const Corpus& corpus, const std::vector<std::string>& record_paths,
                      const std::string& reference_path);

}  // namespace batchweave::demo
