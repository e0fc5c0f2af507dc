#include "examples/demo/data/sample.h"

#include <algorithm>
#include <utility>

namespace batchweave::demo {

ByteView Sample::PatchBytes(uint32_t begin, uint32_t end) const {
  const auto bytes_before = [this](uint32_t position) {
    const size_t count = std::min<size_t>(position, patches.ends.size());
    return count == 0 ? 0 : patches.ends[count - 1];
  };
  return ByteView(patches.bytes).subspan(bytes_before(begin), bytes_before(end) - bytes_before(begin));
}

Result<Sample> MakeSample(std::string id, const Document& document, const Tokenizer& tokenizer) {
  Sample sample{.id = std::move(id), .tokens = {}, .patches = {}};
  if (document.image.has_value()) sample.patches = CutInPatches(*document.image);
  sample.tokens.assign(sample.patches.ends.size(), kPatchToken);
  const std::vector<uint16_t> text = BW_TRY(tokenizer.Encode(document.text));
  sample.tokens.insert(sample.tokens.end(), text.begin(), text.end());
  sample.tokens.push_back(tokenizer.end_token());
  return sample;
}

}  // namespace batchweave::demo
