// The answer to compare with: what one process that nothing disturbs folds from the same sources, without BatchWeave.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "examples/demo/data/batch_source.h"
#include "examples/demo/data/corpus.h"
#include "examples/demo/data/record.h"
#include "examples/demo/data/tokenizer.h"

namespace batchweave::demo {

// Packs every part, one after the other, and folds every slice. `packing.part` is ignored. `position` of the result
// is the number of batches, which is the number of steps of a stream that holds them all. `on_progress` is called
// after each batch with what has been done, from 0 to 1.
// Errors: as BatchSource.
Result<Record> FoldReference(const Corpus& corpus, const Tokenizer& tokenizer, PackingOptions packing,
                             const std::function<void(double)>& on_progress);

// The ids that an audit must find.
std::vector<std::string> IdsOf(const Corpus& corpus);

}  // namespace batchweave::demo
