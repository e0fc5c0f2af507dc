#include "batchweave/log/read_stream_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "batchweave/store/memory_store.h"
#include "batchweave/testing/corrupting_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

const StreamInfo kInfo{.stream_id = {{.high = 1, .low = 2}}, .created_at_ns = 3};

class ReadStreamInfoTest : public ::testing::Test {
 protected:
  void Write(const Bytes& json) {
    ASSERT_THAT(PutBytes(memory_, "run/stream.json", json, PutMode::kOverwrite), IsOk());
  }

  MemoryStore memory_;
};

TEST_F(ReadStreamInfoTest, GivesTheStreamAndTheBytesThatItsChainBeginsWith) {
  Write(EncodeStreamInfo(kInfo));
  const Result<StoredStreamInfo> stored = ReadStreamInfo(memory_, "run");
  ASSERT_THAT(stored, IsOk());
  EXPECT_EQ(stored->info, kInfo);
  EXPECT_EQ(stored->json, EncodeStreamInfo(kInfo));
}

// Covers F2, F3.
TEST_F(ReadStreamInfoTest, WhatIsDamagedOnTheWayIsReadAgain) {
  Write(EncodeStreamInfo(kInfo));
  const size_t digit_of_id = AsText(EncodeStreamInfo(kInfo)).find("0001");
  for (const auto kind : {Corruption::Kind::kShort, Corruption::Kind::kEmpty, Corruption::Kind::kFlip}) {
    CorruptingStore store(memory_, {.kind = kind, .position = digit_of_id, .reads = 3});
    const Result<StoredStreamInfo> stored = ReadStreamInfo(store, "run");
    ASSERT_THAT(stored, IsOk());
    EXPECT_EQ(stored->info, kInfo);
    EXPECT_EQ(stored->json, EncodeStreamInfo(kInfo));
    EXPECT_EQ(store.corrupted(), 3u);
  }
}

// Covers F3.
TEST_F(ReadStreamInfoTest, DamageThatStaysIsCorruptInTheEnd) {
  Write(EncodeStreamInfo(kInfo));
  CorruptingStore store(memory_, {.kind = Corruption::Kind::kEmpty});
  EXPECT_THAT(ReadStreamInfo(store, "run"), IsError(ErrorCode::kCorrupt, HasSubstr("stream.json")));
  EXPECT_EQ(store.corrupted(), 4u);
}

TEST_F(ReadStreamInfoTest, AStreamThatIsNotThereIsNotFoundAndNamed) {
  EXPECT_THAT(ReadStreamInfo(memory_, "run"), IsError(ErrorCode::kNotFound, HasSubstr("name=run")));
}

TEST_F(ReadStreamInfoTest, WhatIsNotDamagedIsReadOnce) {
  const StreamInfo newer{.format_version = 99};
  Write(EncodeStreamInfo(newer));
  FaultyStore counting(memory_);
  EXPECT_THAT(ReadStreamInfo(counting, "run"), IsError(ErrorCode::kIncompatible));
  EXPECT_EQ(counting.calls(), 1u);
}

TEST_F(ReadStreamInfoTest, AStoreThatIsDownIsNotAStreamThatIsNotThere) {
  Write(EncodeStreamInfo(kInfo));
  for (const ErrorCode code : {ErrorCode::kUnavailable, ErrorCode::kDenied}) {
    FaultyStore store(memory_, {.fail_call = 1, .code = code});
    EXPECT_THAT(ReadStreamInfo(store, "run"), IsError(code));
  }
}

}  // namespace
}  // namespace batchweave
