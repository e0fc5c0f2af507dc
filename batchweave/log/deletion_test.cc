#include "batchweave/log/deletion.h"

#include <gtest/gtest.h>

#include "batchweave/format/stream_info.h"
#include "batchweave/log/change.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/corrupting_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/live_stream.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kJson = "run/stream.json";

class DeletionTest : public ::testing::Test {
 protected:
  void Mark(StreamId id = {.bits = {.high = 1, .low = 2}}) {
    const Bytes json = EncodeStreamInfo({.stream_id = id, .deleted = id == stream_.keys().stream_id});
    ASSERT_THAT(PutBytes(memory_, kJson, json, PutMode::kOverwrite), IsOk());
  }
  static Error Damage() { return {ErrorCode::kCorrupt, "checksum mismatch"}; }

  MemoryStore memory_;
  LiveStream stream_{memory_};
};

TEST_F(DeletionTest, OfAStreamThatIsThereTheErrorIsTold) {
  EXPECT_EQ(UnlessDeleted(stream_.log(), Damage()).code, ErrorCode::kCorrupt);
}

TEST_F(DeletionTest, OfADeletedOneThatAndWhatFailed) {
  Mark();
  EXPECT_THAT(Result<void>(UnlessDeleted(stream_.log(), Damage())),
              IsError(ErrorCode::kNotFound, AllOf(HasSubstr("the stream was deleted"), HasSubstr("name=run"),
                                                  HasSubstr("checksum mismatch"))));
}

TEST_F(DeletionTest, AlsoWhereItWasRemovedOrAnotherHasItsName) {
  Mark({.bits = {.high = 3, .low = 4}});
  EXPECT_EQ(UnlessDeleted(stream_.log(), Damage()).code, ErrorCode::kNotFound);
  ASSERT_THAT(memory_.Delete({{std::string(kJson)}}), IsOk());
  EXPECT_EQ(UnlessDeleted(stream_.log(), Damage()).code, ErrorCode::kNotFound);
}

// What the call itself was told stays, where the store does not say whether the stream is there.
TEST_F(DeletionTest, WhereNobodyKnowsTheErrorIsTold) {
  Mark();
  FaultyStore unreachable(memory_, {.fail_call = 1, .calls = Fault::kAllCalls, .code = ErrorCode::kUnavailable});
  ManifestLog log = stream_.LogOver(unreachable);
  EXPECT_EQ(UnlessDeleted(log, Damage()).code, ErrorCode::kCorrupt);
}

TEST_F(DeletionTest, WhatCannotComeOfItCostsNoRequest) {
  Mark();
  for (const ErrorCode code : {ErrorCode::kClosed, ErrorCode::kInvalidArgument, ErrorCode::kDenied}) {
    EXPECT_EQ(UnlessDeleted(stream_.log(), {code, ""}).code, code);
  }
}

// A refusal by a history that sleepers have made of a deleted stream.
TEST_F(DeletionTest, AChangeThatFailsOnADeletedStreamSaysSo) {
  Mark();
  const auto refuse = [](Manifest&) -> Result<bool> { return Damage(); };
  EXPECT_THAT(CommitChange(stream_.log(), kForever, refuse), IsError(ErrorCode::kNotFound));
}

}  // namespace
}  // namespace batchweave
