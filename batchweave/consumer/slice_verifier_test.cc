#include "batchweave/consumer/slice_verifier.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

const TgbIdentity kIdentity{.stream_id = {{.high = 1, .low = 2}}, .producer = "tok-03", .incarnation = {7}, .seq = 12};

// A read of slices of the given sizes, and where they lie.
struct TestRead {
  explicit TestRead(const std::vector<uint64_t>& sizes) {
    for (const uint64_t size : sizes) {
      bytes.resize((bytes.size() + kSliceAlignment - 1) / kSliceAlignment * kSliceAlignment);
      const Coordinate at{.dp = static_cast<uint32_t>(slices.size()), .cp = 3};
      slices.push_back({.at = at, .offset = kOffset + bytes.size(), .size_bytes = size});
      const size_t begin = bytes.size();
      for (uint64_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(i * 7 + slices.size()));
      const uint64_t hash = Hash64(std::span(bytes).subspan(begin));
      bytes.resize(bytes.size() + kTrailerBytes);
      StoreTrailer(SliceTrailer(kIdentity, at, size, hash), std::span(bytes).last<kTrailerBytes>());
    }
  }

  static constexpr uint64_t kOffset = 640;
  Bytes bytes;
  std::vector<PlannedSlice> slices;
};

TEST(SliceVerifierTest, AcceptsWhatWasWrittenWhetherOrNotTheStoreReportsIt) {
  const TestRead read({100, 0, 64, 1});
  SliceVerifier unreported(kIdentity, read.slices);
  EXPECT_FALSE(unreported.Check(read.bytes));
  SliceVerifier reported(kIdentity, read.slices);
  reported.OnBytes(read.bytes);
  EXPECT_FALSE(reported.Check(read.bytes));
}

// Covers I10.
RC_GTEST_PROP(SliceVerifierTest, PiecesMayEndAnywhere, ()) {
  const auto sizes = *rc::gen::nonEmpty(rc::gen::container<std::vector<uint64_t>>(rc::gen::inRange<uint64_t>(0, 300)));
  const TestRead read(sizes);
  SliceVerifier verifier(kIdentity, read.slices);
  for (size_t at = 0; at < read.bytes.size();) {
    const size_t size = std::min<size_t>(*rc::gen::inRange<size_t>(1, 200), read.bytes.size() - at);
    verifier.OnBytes(ByteView(read.bytes).subspan(at, size));
    at += size;
  }
  RC_ASSERT(!verifier.Check(read.bytes));
}

// Covers I10.
RC_GTEST_PROP(SliceVerifierTest, AnyFlippedBitOfASliceOrTrailerIsFound, ()) {
  TestRead read({50, 64, 7});
  const auto slice = *rc::gen::inRange<size_t>(0, read.slices.size());
  const uint64_t begin = read.slices[slice].offset - TestRead::kOffset;
  const auto at = *rc::gen::inRange<uint64_t>(begin, begin + read.slices[slice].size_bytes + kTrailerBytes);
  read.bytes[at] ^= static_cast<std::byte>(1 << *rc::gen::inRange(0, 8));
  SliceVerifier verifier(kIdentity, read.slices);
  verifier.OnBytes(read.bytes);
  const auto mismatch = verifier.Check(read.bytes);
  RC_ASSERT(mismatch.has_value());
  RC_ASSERT(mismatch->at == read.slices[slice].at);
}

TEST(SliceVerifierTest, ARestartForgetsWhatWasSeen) {
  const TestRead read({200, 100});
  SliceVerifier verifier(kIdentity, read.slices);
  verifier.OnBytes(ByteView(read.bytes).first(150));
  verifier.OnRestart();
  verifier.OnBytes(read.bytes);
  EXPECT_FALSE(verifier.Check(read.bytes));
}

TEST(SliceVerifierTest, TheRightBytesOfAnotherPlaceOrBatchAreRefused) {
  const TestRead read({100});
  std::vector<PlannedSlice> elsewhere = read.slices;
  elsewhere[0].at.dp = 1;
  EXPECT_TRUE(SliceVerifier(kIdentity, elsewhere).Check(read.bytes));
  TgbIdentity other = kIdentity;
  other.seq = 13;
  EXPECT_TRUE(SliceVerifier(other, read.slices).Check(read.bytes));
}

}  // namespace
}  // namespace batchweave
