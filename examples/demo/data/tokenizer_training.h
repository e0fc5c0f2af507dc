// The tokenizer's model, trained once on a share of the corpus.
#pragma once

#include <cstdint>
#include <string>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"
#include "examples/demo/data/corpus.h"
#include "examples/demo/data/tokenizer.h"

namespace batchweave::demo {

struct TrainingOptions {
  uint64_t text_bytes_max = uint64_t{6} << 20;  // Of the corpus from its beginning, which is shuffled.
  uint32_t vocabulary = 8000;                   // At most; less text has fewer pieces to give.
};

// A byte-pair model that changes no character of its input: every byte is a piece, and spaces and line ends are kept.
// The same text gives the same bytes each time: one thread trains. Takes about 6 s for 6 MiB.
// Errors: as Corpus::Read; kInvalidArgument (a vocabulary that the text cannot fill or that is too large).
Result<Bytes> TrainTokenizer(const Corpus& corpus, const TrainingOptions& options);

// Where the model of `corpus` is kept in `directory`: a corpus that changed has another one.
std::string TokenizerPath(const std::string& directory, const Corpus& corpus);

// The tokenizer of `corpus`, from `path` if it was trained before; otherwise trains it and leaves it there. To be
// called once before several processes need it; they may also race, for each would leave the same bytes.
// A model that does not load is trained again. Errors: as TrainTokenizer, ReadFile and ReplaceFile.
Result<Tokenizer> LoadOrTrainTokenizer(const Corpus& corpus, const std::string& path);

}  // namespace batchweave::demo
