// Numbers as they lie in objects: little-endian, unaligned.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>

#include "batchweave/base/bytes.h"
#include "batchweave/base/check.h"

namespace batchweave {

static_assert(std::endian::native == std::endian::little, "objects are little-endian, and so is every host so far");

template <std::unsigned_integral Number>
void StoreLittleEndian(Number number, MutableByteView to, size_t offset) {
  BW_CHECK(offset + sizeof number <= to.size());
  std::memcpy(to.data() + offset, &number, sizeof number);
}

template <std::unsigned_integral Number>
Number LoadLittleEndian(ByteView from, size_t offset) {
  BW_CHECK(offset + sizeof(Number) <= from.size());
  Number number;
  std::memcpy(&number, from.data() + offset, sizeof number);
  return number;
}

}  // namespace batchweave
