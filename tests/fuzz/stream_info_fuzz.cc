// Any bytes are a stream.json or an error; and what decodes can be encoded again without a loss.
#include <cstddef>
#include <cstdint>

#include "batchweave/base/check.h"
#include "batchweave/format/stream_info.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using batchweave::StreamInfo;
  const batchweave::Result<StreamInfo> info = batchweave::DecodeStreamInfo(std::as_bytes(std::span(data, size)));
  if (!info.ok()) return 0;
  const batchweave::Result<StreamInfo> again = batchweave::DecodeStreamInfo(batchweave::EncodeStreamInfo(*info));
  BW_CHECK(again.ok() && *again == *info);
  return 0;
}
