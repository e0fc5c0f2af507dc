// One producer's share of the corpus as packed global batches, from any place in it.
//
// The samples of the share follow each other without a gap: they fill the slice (dp 0, cp 0), then (0, 1), then
// (1, 0) and so on; a sample that does not fit goes on in the next slice and the next batch. The last batch is padded.
// A batch is a function of the corpus, the tokenizer, the options and its place alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"
#include "batchweave/format/grid.h"
#include "examples/demo/data/corpus.h"
#include "examples/demo/data/sample.h"
#include "examples/demo/data/tokenizer.h"

namespace batchweave::demo {

struct PackingOptions {
  uint32_t part = 0;   // Which share: the samples i of the corpus with i % parts == part,
  uint32_t parts = 1;  // of this many.
  Grid grid{.dp = 4, .cp = 2};
  uint32_t sequence_length = 8192;  // Positions; each of the cp slices of a sequence has an equal share of them.
};

struct PackedBatch {
  std::vector<Bytes> slices;   // (dp, cp) is at dp * grid.cp + cp; see slice.h.
  std::string cursor;          // The place behind this batch.
  uint64_t samples_ended = 0;  // Samples whose last position is in this batch.
};

// For one thread at a time.
class BatchSource {
 public:
  // `cursor` is empty for the beginning, or a PackedBatch's: Next then continues with the very bytes that would have
  // followed. `corpus` and `tokenizer` must outlive the source. Reads at most one sample.
  // Errors: kInvalidArgument (no such part, a grid or a length that is 0 or does not divide, a cursor that is not one
  // or is of another corpus or other options); as Corpus::Read.
  static Result<BatchSource> From(const Corpus& corpus, const Tokenizer& tokenizer, PackingOptions options,
                                  std::string_view cursor);

  // The next batch; none at the end. Errors: as Corpus::Read and MakeSample; after one, the source is of no more use.
  Result<std::optional<PackedBatch>> Next();

  // How much of the share has been packed, from 0 to 1: for progress bars.
  double progress() const;

 private:
  BatchSource(const Corpus& corpus, const Tokenizer& tokenizer, PackingOptions options);

  // Reads samples_[next_] into current_ where it is not there yet.
  Result<void> LoadCurrent();
  Result<Bytes> PackSlice(PackedBatch& batch);
  std::string CursorPrefix() const;

  const Corpus* corpus_;
  const Tokenizer* tokenizer_;
  PackingOptions options_;
  std::vector<const SampleRef*> samples_;  // Of the share.
  size_t next_ = 0;                        // The sample that is being packed,
  uint32_t position_ = 0;                  // and its first position that is not packed.
  std::optional<Sample> current_;
};

}  // namespace batchweave::demo
