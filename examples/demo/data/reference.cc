#include "examples/demo/data/reference.h"

#include <utility>

namespace batchweave::demo {

Result<Record> FoldReference(const Corpus& corpus, const Tokenizer& tokenizer, PackingOptions packing,
                             const std::function<void(double)>& on_progress) {
  Record record;
  for (packing.part = 0; packing.part < packing.parts; ++packing.part) {
    BatchSource source = BW_TRY(BatchSource::From(corpus, tokenizer, packing, ""));
    for (;;) {
      const std::optional<PackedBatch> batch = BW_TRY(source.Next());
      if (!batch.has_value()) break;
      for (const Bytes& slice : batch->slices) BW_TRY(record.Fold(slice));
      ++record.position;
      on_progress((packing.part + source.progress()) / packing.parts);
    }
  }
  return record;
}

std::vector<std::string> IdsOf(const Corpus& corpus) {
  std::vector<std::string> ids;
  for (const SampleRef& ref : corpus.samples()) ids.push_back(IdOf(ref));
  return ids;
}

}  // namespace batchweave::demo
