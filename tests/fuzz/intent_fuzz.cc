// Intents of batches and of openings: each input is tried as both.
#include "batchweave/format/intent.h"
#include "tests/fuzz/framed_messages.h"

namespace batchweave {
namespace {

void TryBoth(ByteView object) {
  TryMessage(object, DecodeBatchIntent, [](const BatchIntent& intent) { return EncodeIntent(intent); });
  TryMessage(object, DecodeOpeningIntent, [](const OpeningIntent& intent) { return EncodeIntent(intent); });
}

}  // namespace
}  // namespace batchweave

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using batchweave::ObjectKind;
  return batchweave::TryFramed(data, size, {ObjectKind::kBatchIntent, ObjectKind::kOpeningIntent}, batchweave::TryBoth);
}
