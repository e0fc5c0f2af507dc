// What every decoder refuses, whatever it decodes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchweave/base/bytes.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {

// `object` cut short anywhere, with any one bit flipped, or with a byte too many is corrupt to `decode`, which takes a
// ByteView.
template <typename Decode>
void ExpectEveryDamageIsCorrupt(Bytes object, Decode decode) {
  for (size_t size = 0; size < object.size(); ++size) {
    EXPECT_THAT(decode(ByteView(object).first(size)), IsError(ErrorCode::kCorrupt)) << size;
  }
  for (size_t bit = 0; bit < object.size() * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1 << (bit % 8));
    object[bit / 8] ^= mask;
    EXPECT_THAT(decode(object), IsError(ErrorCode::kCorrupt)) << bit;
    object[bit / 8] ^= mask;
  }
  object.push_back({});
  EXPECT_THAT(decode(object), IsError(ErrorCode::kCorrupt, ::testing::HasSubstr("wrong length")));
}

}  // namespace batchweave
