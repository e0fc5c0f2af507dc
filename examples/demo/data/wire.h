// Little-endian numbers and short texts, one after the other: what the demo's slices and records are made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"

namespace batchweave::demo {

class Writer {
 public:
  void PutU8(uint8_t value) { PutLittleEndian(value, 1); }
  void PutU16(uint16_t value) { PutLittleEndian(value, 2); }
  void PutU32(uint32_t value) { PutLittleEndian(value, 4); }
  void PutU64(uint64_t value) { PutLittleEndian(value, 8); }
  // A U16 of its length, then the text: at most 65535 bytes.
  void PutText(std::string_view text);
  void PutBytes(ByteView bytes);

  // All that was put so far.
  ByteView bytes() const { return bytes_; }
  Bytes Take() && { return std::move(bytes_); }

 private:
  void PutLittleEndian(uint64_t value, int bytes);

  Bytes bytes_;
};

// Takes apart what a Writer made. Trusts no byte: each method fails with kCorrupt where less is left than it takes.
// `bytes` must outlive the reader and what it returned.
class Reader {
 public:
  explicit Reader(ByteView bytes) : rest_(bytes) {}

  Result<uint8_t> TakeU8();
  Result<uint16_t> TakeU16();
  Result<uint32_t> TakeU32();
  Result<uint64_t> TakeU64();
  Result<std::string_view> TakeText();
  Result<ByteView> TakeBytes(uint64_t size_bytes);

  bool empty() const { return rest_.empty(); }

 private:
  Result<uint64_t> TakeLittleEndian(int bytes);

  ByteView rest_;
};

}  // namespace batchweave::demo
