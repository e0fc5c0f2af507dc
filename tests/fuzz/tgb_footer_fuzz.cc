// Any bytes are the end of a batch's object or an error; and what decodes can be encoded again without a loss. A second
// way in gives the index a tail that fits, since no fuzzer guesses a checksum.
#include <array>
#include <cstddef>
#include <cstdint>

#include "batchweave/base/check.h"
#include "batchweave/format/little_endian.h"
#include "batchweave/format/stream_info.h"
#include "batchweave/format/tgb.h"

namespace batchweave {
namespace {

void Decode(ByteView end_of_object) {
  const Result<TgbFooter> footer = DecodeTgbFooter(end_of_object);
  if (!footer.ok()) return;
  const Result<TgbFooter> again = DecodeTgbFooter(EncodeTgbFooter(*footer));
  BW_CHECK(again.ok() && *again == *footer);
  PartLayout::Make(footer->range, footer->slice_bytes).value();
}

// The tail of docs/format.md for `index`.
Bytes WithTail(ByteView index) {
  std::array<std::byte, kFooterTailBytes> tail;
  StoreLittleEndian(Hash64(index), tail, 0);
  StoreLittleEndian(static_cast<uint32_t>(index.size()), tail, 8);
  StoreLittleEndian(kFormatVersion, tail, 12);
  StoreLittleEndian(Hash64(ByteView(tail).first(16)), tail, 16);
  const ByteView magic = AsBytes("BWbatch\n");
  std::copy(magic.begin(), magic.end(), tail.begin() + 24);
  return Join(std::array<ByteView, 2>{index, tail});
}

}  // namespace
}  // namespace batchweave

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const batchweave::ByteView bytes = std::as_bytes(std::span(data, size));
  batchweave::Decode(bytes);
  if (size > batchweave::kFooterTailBytes) {
    batchweave::Decode(batchweave::WithTail(bytes.first(size - batchweave::kFooterTailBytes)));
  }
  return 0;
}
