#include "examples/demo/data/wire.h"

#include <fmt/format.h>

#include <limits>

#include "batchweave/base/check.h"

namespace batchweave::demo {

void Writer::PutLittleEndian(uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void Writer::PutText(std::string_view text) {
  BW_CHECK(text.size() <= std::numeric_limits<uint16_t>::max());
  PutU16(static_cast<uint16_t>(text.size()));
  PutBytes(AsBytes(text));
}

void Writer::PutBytes(ByteView bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

Result<uint64_t> Reader::TakeLittleEndian(int bytes) {
  uint64_t value = 0;
  const ByteView taken = BW_TRY(TakeBytes(static_cast<uint64_t>(bytes)));
  for (size_t i = taken.size(); i > 0; --i) value = value << 8 | std::to_integer<uint64_t>(taken[i - 1]);
  return value;
}

Result<uint8_t> Reader::TakeU8() { return static_cast<uint8_t>(BW_TRY(TakeLittleEndian(1))); }
Result<uint16_t> Reader::TakeU16() { return static_cast<uint16_t>(BW_TRY(TakeLittleEndian(2))); }
Result<uint32_t> Reader::TakeU32() { return static_cast<uint32_t>(BW_TRY(TakeLittleEndian(4))); }
Result<uint64_t> Reader::TakeU64() { return TakeLittleEndian(8); }

Result<std::string_view> Reader::TakeText() {
  const uint16_t size = BW_TRY(TakeU16());
  return AsText(BW_TRY(TakeBytes(size)));
}

Result<ByteView> Reader::TakeBytes(uint64_t size_bytes) {
  if (size_bytes > rest_.size()) {
    return Error{ErrorCode::kCorrupt, fmt::format("bytes end too early: wanted={} left={}", size_bytes, rest_.size())};
  }
  const ByteView taken = rest_.first(size_bytes);
  rest_ = rest_.subspan(size_bytes);
  return taken;
}

}  // namespace batchweave::demo
