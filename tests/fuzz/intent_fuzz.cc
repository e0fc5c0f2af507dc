// Any bytes are an intent of batches, one of an opening, or an error; and what decodes can be encoded again without a loss. Each input is
// tried as both, in a frame that fits, since no fuzzer guesses a checksum.
#include <cstddef>
#include <cstdint>

#include "batchweave/base/check.h"
#include "batchweave/format/intent.h"
#include "batchweave/format/object_frame.h"

namespace batchweave {
namespace {

template <typename Decode, typename Encode>
void Try(ByteView message, Decode decode, Encode encode) {
  const auto decoded = decode(message);
  if (!decoded.ok()) return;
  const auto again = decode(encode(*decoded));
  BW_CHECK(again.ok() && *again == *decoded);
}

void TryBoth(ByteView message) {
  Try(message, DecodeBatchIntent, [](const BatchIntent& intent) { return EncodeIntent(intent); });
  Try(message, DecodeOpeningIntent, [](const OpeningIntent& intent) { return EncodeIntent(intent); });
}

}  // namespace
}  // namespace batchweave

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using batchweave::ObjectKind;
  const batchweave::ByteView message = std::as_bytes(std::span(data, size));
  batchweave::TryBoth(message);
  if (size < batchweave::kFrameBytes) return 0;
  for (const ObjectKind kind : {ObjectKind::kBatchIntent, ObjectKind::kOpeningIntent}) {
    batchweave::TryBoth(batchweave::EncodeFramed(kind, message.subspan(batchweave::kFrameBytes)));
  }
  return 0;
}
