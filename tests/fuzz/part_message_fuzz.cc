// Tickets and receipts: each input is tried as both.
#include "batchweave/format/part_message.h"
#include "tests/fuzz/framed_messages.h"

namespace batchweave {
namespace {

void TryBoth(ByteView message) {
  TryMessage(message, DecodePartTicket, EncodePartTicket);
  TryMessage(message, DecodePartReceipt, EncodePartReceipt);
}

}  // namespace
}  // namespace batchweave

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using batchweave::ObjectKind;
  return batchweave::TryFramed(data, size, {ObjectKind::kPartTicket, ObjectKind::kPartReceipt}, batchweave::TryBoth);
}
