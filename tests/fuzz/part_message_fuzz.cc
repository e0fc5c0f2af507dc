// Any bytes are a ticket, a receipt, or an error; and what decodes can be encoded again without a loss. Each input is
// tried as both, in a frame that fits, since no fuzzer guesses a checksum.
#include <cstddef>
#include <cstdint>

#include "batchweave/base/check.h"
#include "batchweave/format/object_frame.h"
#include "batchweave/format/part_message.h"

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
  Try(message, DecodePartTicket, EncodePartTicket);
  Try(message, DecodePartReceipt, EncodePartReceipt);
}

}  // namespace
}  // namespace batchweave

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using batchweave::ObjectKind;
  const batchweave::ByteView message = std::as_bytes(std::span(data, size));
  batchweave::TryBoth(message);
  if (size < batchweave::kFrameBytes) return 0;
  for (const ObjectKind kind : {ObjectKind::kPartTicket, ObjectKind::kPartReceipt}) {
    batchweave::TryBoth(batchweave::EncodeFramed(kind, message.subspan(batchweave::kFrameBytes)));
  }
  return 0;
}
