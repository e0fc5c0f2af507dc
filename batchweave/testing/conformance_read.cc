// Ranged reads, sizes and observers.
#include <gmock/gmock.h>

#include "batchweave/testing/conformance.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

// Bytes that differ at every offset a broken read could be off by.
std::string Numbers(size_t size) {
  std::string text;
  while (text.size() < size) text += std::to_string(text.size()) + ' ';
  text.resize(size);
  return text;
}

class Recorder final : public ReadObserver {
 public:
  void OnBytes(ByteView piece) override {
    EXPECT_LE(piece.size(), kReadBlockBytes);
    EXPECT_FALSE(piece.empty());
    seen_ += AsText(piece);
  }
  void OnRestart() override { seen_.clear(); }
  const std::string& seen() const { return seen_; }

 private:
  std::string seen_;
};

TEST_P(ObjectStoreConformance, ARangeGivesJustItsBytes) {
  const std::string text = Numbers(10'000);
  ASSERT_THAT(Create("a", text), IsOk());
  for (const size_t offset : {0u, 1u, 4095u, 4096u, 9999u}) {
    for (const size_t size : {0u, 1u, 63u, 5000u}) {
      EXPECT_THAT(ReadRange("a", offset, size), IsOkAndHolds(text.substr(offset, size))) << offset << ' ' << size;
    }
  }
}

TEST_P(ObjectStoreConformance, ARangeEndsWhereTheObjectEnds) {
  ASSERT_THAT(Create("a", "0123456789"), IsOk());
  EXPECT_THAT(ReadRange("a", 7, 10), IsOkAndHolds("789"));
  for (const uint64_t offset : {uint64_t{10}, uint64_t{11}, uint64_t{1} << 40, uint64_t{INT64_MAX}, UINT64_MAX}) {
    EXPECT_THAT(ReadRange("a", offset, 10), IsOkAndHolds("")) << offset;
  }
}

TEST_P(ObjectStoreConformance, ALargeObjectIsReadWhole) {
  const std::string text = Numbers(5 * kReadBlockBytes + 17);
  ASSERT_THAT(Create("a", text), IsOk());
  EXPECT_TRUE(*Read("a") == text);
  EXPECT_TRUE(*ReadRange("a", 3, 3 * kReadBlockBytes) == text.substr(3, 3 * kReadBlockBytes));
}

TEST_P(ObjectStoreConformance, OneGetServesManyRequests) {
  ASSERT_THAT(Create("a", "0123456789"), IsOk());
  ASSERT_THAT(Create("b/c", "abc"), IsOk());
  std::string buffers[3] = {"....", "....", "...."};
  std::vector<ReadRequest> requests;
  requests.push_back({.key = "a", .offset = 2, .buffer = std::as_writable_bytes(std::span(buffers[0]))});
  requests.push_back({.key = "b/c", .offset = 0, .buffer = std::as_writable_bytes(std::span(buffers[1]))});
  requests.push_back({.key = "a", .offset = 9, .buffer = std::as_writable_bytes(std::span(buffers[2]))});
  ASSERT_THAT(store().Get(requests), IsOk());
  EXPECT_EQ(buffers[0], "2345");
  EXPECT_EQ(buffers[1].substr(0, requests[1].received_bytes), "abc");
  EXPECT_EQ(buffers[2].substr(0, requests[2].received_bytes), "9");
  EXPECT_THAT(store().Get({}), IsOk());
}

TEST_P(ObjectStoreConformance, AnObserverIsToldEveryByteOnceInOrder) {
  const std::string text = Numbers(2 * kReadBlockBytes + 100);
  ASSERT_THAT(Create("a", text), IsOk());
  Bytes buffer(text.size() + 50);
  Recorder recorder;
  ReadRequest request{.key = "a", .offset = 10, .buffer = buffer, .observer = &recorder};
  ASSERT_THAT(store().Get({&request, 1}), IsOk());
  EXPECT_EQ(request.received_bytes, text.size() - 10);
  EXPECT_TRUE(recorder.seen() == text.substr(10));
}

TEST_P(ObjectStoreConformance, AnObserverIsToldNothingOfNothing) {
  ASSERT_THAT(Create("a", "0123456789"), IsOk());
  Bytes buffer(10);
  Recorder recorder;
  ReadRequest request{.key = "a", .offset = 10, .buffer = buffer, .observer = &recorder};
  EXPECT_THAT(store().Get({&request, 1}), IsOk());
  EXPECT_EQ(recorder.seen(), "");
}

TEST_P(ObjectStoreConformance, WhatIsNotThereIsNotFound) {
  ASSERT_THAT(Create("a/b", "text"), IsOk());
  for (const char* key : {"missing", "a/missing", "a", "a/b/below", "x/y/z"}) {
    EXPECT_THAT(Read(key), IsError(ErrorCode::kNotFound)) << key;
    EXPECT_THAT(ReadRange(key, 0, 1), IsError(ErrorCode::kNotFound)) << key;
    EXPECT_THAT(ReadRange(key, 0, 0), IsError(ErrorCode::kNotFound)) << key;
    EXPECT_THAT(store().Stat(key), IsError(ErrorCode::kNotFound)) << key;
  }
}

TEST_P(ObjectStoreConformance, AGetFailsAsAWhole) {
  ASSERT_THAT(Create("a", "text"), IsOk());
  Bytes buffer(4);
  std::vector<ReadRequest> requests(2);
  requests[0] = {.key = "a", .buffer = buffer};
  requests[1] = {.key = "missing", .buffer = buffer};
  EXPECT_THAT(store().Get(requests), IsError(ErrorCode::kNotFound));
}

TEST_P(ObjectStoreConformance, StatGivesTheSize) {
  ASSERT_THAT(Create("a", std::string(12'345, 'x')), IsOk());
  EXPECT_THAT(store().Stat("a"), IsOkAndHolds(12'345u));
}

TEST_P(ObjectStoreConformance, TakesObjectsOfSomeSize) { EXPECT_GE(store().traits().put_bytes_max, uint64_t{5} << 30); }

}  // namespace
}  // namespace batchweave
