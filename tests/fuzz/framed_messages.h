// What is tried of each decoder of objects of one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "batchweave/base/check.h"
#include "batchweave/format/object_frame.h"

namespace batchweave {

// Any bytes are a message, or an error; and what decodes can be encoded again without a loss.
template <typename Decode, typename Encode>
void TryMessage(ByteView message, Decode decode, Encode encode) {
  const auto decoded = decode(message);
  if (!decoded.ok()) return;
  const auto again = decode(encode(*decoded));
  BW_CHECK(again.ok() && *again == *decoded);
}

// The input as it is, and as each of `kinds` in a frame that fits, since no fuzzer guesses a checksum.
template <typename Try>
int TryFramed(const uint8_t* data, size_t size, std::initializer_list<ObjectKind> kinds, Try try_all) {
  const ByteView message = std::as_bytes(std::span(data, size));
  try_all(message);
  if (size < kFrameBytes) return 0;
  for (const ObjectKind kind : kinds) try_all(EncodeFramed(kind, message.subspan(kFrameBytes)));
  return 0;
}

}  // namespace batchweave
