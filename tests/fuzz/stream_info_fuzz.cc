// Any bytes are a stream.json or an error; and what decodes can be encoded again without a loss. A second way in adds a
// check that fits, which no fuzzer guesses.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "batchweave/base/check.h"
#include "batchweave/base/hash.h"
#include "batchweave/format/stream_info.h"

namespace batchweave {
namespace {

void Decode(ByteView json) {
  const Result<StreamInfo> info = DecodeStreamInfo(json);
  if (!info.ok()) return;
  const Result<StreamInfo> again = DecodeStreamInfo(EncodeStreamInfo(*info));
  BW_CHECK(again.ok() && *again == *info);
}

}  // namespace
}  // namespace batchweave

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using batchweave::ByteView;
  const ByteView json = std::as_bytes(std::span(data, size));
  batchweave::Decode(json);
  // The bytes before "check" of what is whole, or all.
  const std::string_view text = batchweave::AsText(json);
  const std::string_view body = text.substr(0, text.rfind("\"check\""));
  batchweave::Decode(batchweave::ToBytes(
      fmt::format("{}\"check\": \"{:016x}\"\n}}\n", body, batchweave::Hash64(batchweave::AsBytes(body)))));
  return 0;
}
