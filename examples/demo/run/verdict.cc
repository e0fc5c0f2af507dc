#include "examples/demo/run/verdict.h"

#include "examples/demo/data/reference.h"

namespace batchweave::demo {
namespace {

Result<Record> MergeAll(const std::vector<std::string>& paths) {
  Record merged;
  for (const std::string& path : paths) merged.Merge(BW_TRY(Record::Load(path)));
  return merged;
}

}  // namespace

Result<Verdict> Judge(const Corpus& corpus, const RecordPaths& paths) {
  Verdict verdict{.train = BW_TRY(MergeAll(paths.train)),
                  .eval = BW_TRY(MergeAll(paths.eval)),
                  .reference = BW_TRY(Record::Load(paths.reference))};
  const std::vector<std::string> ids = IdsOf(corpus);
  verdict.train_audit = verdict.train.ledger.Audit(ids);
  verdict.eval_audit = verdict.eval.ledger.Audit(ids);
  return verdict;
}

}  // namespace batchweave::demo
