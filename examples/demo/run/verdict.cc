#include "examples/demo/run/verdict.h"

#include "examples/demo/data/reference.h"

namespace batchweave::demo {

Result<Verdict> Judge(const Corpus& corpus, const std::vector<std::string>& record_paths,
                      const std::string& reference_path) {
  Verdict verdict;
  for (const std::string& path : record_paths) verdict.ranks.Merge(BW_TRY(Record::Load(path)));
  verdict.reference = BW_TRY(Record::Load(reference_path));
  verdict.audit = verdict.ranks.ledger.Audit(IdsOf(corpus));
  return verdict;
}

}  // namespace batchweave::demo
