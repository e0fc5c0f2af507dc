#include "batchweave/stream/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "batchweave/format/keys.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/stream/read_slice.h"
#include "batchweave/testing/corrupting_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/stream_builder.h"
#include "batchweave/testing/test_env.h"

namespace batchweave {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DescribeTest : public ::testing::Test {
 protected:
  DescribeTest() : builder_(store_) {}

  Stream Open() { return Stream::Open(env_.Over(store_), builder_.keys().name).value(); }
  Result<Bytes> Read(Stream& stream, uint64_t step, Coordinate at) {
    return ReadSlice(stream, {.step = {step}, .at = at}, nullptr);
  }
  TestBatch Ragged() const {
    return {.grid = {.dp = 2, .cp = 2}, .slice_bytes = {0, 100, 7, 3000}, .parts = {}, .lengths_in_footer = true};
  }

  TestEnv env_;
  MemoryStore store_;
  StreamBuilder builder_;
};

// Another id would be a stream without steps.
// Covers F3.
TEST_F(DescribeTest, AnIdThatWasDamagedOnTheWayIsReadAgain) {
  builder_.Append({.grid = {.dp = 2, .cp = 1}, .slice_bytes = {100}, .parts = {}});
  constexpr std::string_view kBeforeId = "\"stream_id\": \"";
  const Bytes json = *store_.Read(StreamJsonKey(builder_.keys().name));
  const auto every_other_read = [reads = 0](std::string_view key) mutable {
    return key.ends_with("/stream.json") && reads++ % 2 == 0;
  };
  CorruptingStore store(
      store_, {.position = AsText(json).find(kBeforeId) + kBeforeId.size(), .filter = {.key = every_other_read}});
  Result<Stream> stream = Stream::Open(env_.Over(store), builder_.keys().name);
  ASSERT_THAT(stream, IsOk());
  const Result<StreamDescription> description = DescribeStream(*stream);
  ASSERT_THAT(description, IsOk());
  EXPECT_EQ(description->info.stream_id, builder_.keys().stream_id);
  EXPECT_EQ(description->newest.manifest.next_step, Step{1});
  EXPECT_EQ(store.corrupted(), 2u) << "by Open and by DescribeStream";
}

TEST_F(DescribeTest, AStreamTellsItsStepsDataAndProducers) {
  builder_.Append({.grid = {.dp = 2, .cp = 1}, .slice_bytes = {100}, .parts = {}, .committed_at_ns = 5});
  builder_.Append({.grid = {.dp = 2, .cp = 1}, .slice_bytes = {100}, .parts = {}, .committed_at_ns = 9});
  Stream stream = Open();
  const Result<StreamDescription> described = DescribeStream(stream);
  ASSERT_THAT(described, IsOk());
  EXPECT_EQ(described->name, "run");
  EXPECT_EQ(described->steps(), 2u);
  EXPECT_EQ(described->payload_bytes, 400u);
  ASSERT_EQ(described->producers.size(), 1u);
  EXPECT_EQ(described->producers[0].committed_at_ns, 9);
  EXPECT_EQ(described->producers[0].cursor, builder_.newest().tail.back().cursor);
}

TEST_F(DescribeTest, AStepTellsEverySliceWhereverItsLengthsAre) {
  builder_.Append(Ragged());
  Stream stream = Open();
  const Result<StepDescription> step = DescribeStep(stream, Step{0});
  ASSERT_THAT(step, IsOk());
  ASSERT_EQ(step->slices.size(), 4u);
  EXPECT_EQ(step->slices[3].at, (Coordinate{.dp = 1, .cp = 1}));
  EXPECT_EQ(step->slices[3].size_bytes, 3000u);
  EXPECT_EQ(step->slices[1].offset, 64u);
  EXPECT_TRUE(store_.Stat(step->keys.at(0)).ok());
}

TEST_F(DescribeTest, ASliceIsReadFromTailAndArchive) {
  for (int i = 0; i < 3; ++i) builder_.Append(Ragged());
  builder_.Archive(2);
  Stream stream = Open();
  for (const uint64_t step : {0, 2}) {
    const Coordinate at{.dp = 1, .cp = 1};
    EXPECT_THAT(Read(stream, step, at), IsOkAndHolds(TestSlice(step + 1, at, 3000)));
    EXPECT_THAT(Read(stream, step, {.dp = 0, .cp = 0}), IsOkAndHolds(Bytes()));
  }
}

TEST_F(DescribeTest, ADamagedSliceIsNotGiven) {
  builder_.Append(Ragged());
  Stream stream = Open();
  const std::string key = DescribeStep(stream, Step{0})->keys[0];
  Bytes bytes = store_.Read(key).value();
  bytes[70] ^= std::byte{1};
  ASSERT_THAT(PutBytes(store_, key, bytes, PutMode::kOverwrite), IsOk());
  EXPECT_THAT(Read(stream, 0, {.dp = 1, .cp = 0}),
              IsError(ErrorCode::kCorrupt, AllOf(HasSubstr("step=0 dp=1 cp=0"), HasSubstr(key))));
  EXPECT_THAT(Read(stream, 0, {.dp = 1, .cp = 1}), IsOk());
}

TEST_F(DescribeTest, StepsThatAreNotThereSayWhy) {
  builder_.Append(Ragged());
  builder_.Append(Ragged());
  builder_.Trim(Step{1});
  Stream stream = Open();
  EXPECT_THAT(DescribeStep(stream, Step{0}), IsError(ErrorCode::kTrimmed, HasSubstr("step=0 first=1")));
  EXPECT_THAT(DescribeStep(stream, Step{2}), IsError(ErrorCode::kNotFound, HasSubstr("step=2 newest=1")));
  EXPECT_THAT(Read(stream, 1, {.dp = 2, .cp = 0}), IsError(ErrorCode::kInvalidArgument, HasSubstr("dp=2")));
}

TEST_F(DescribeTest, AMissingObjectIsCorruptAndNamed) {
  builder_.Append(Ragged());
  Stream stream = Open();
  const std::string key = DescribeStep(stream, Step{0})->keys[0];
  ASSERT_THAT(store_.Delete(std::vector{key}), IsOk());
  EXPECT_THAT(DescribeStep(stream, Step{0}), IsError(ErrorCode::kCorrupt, HasSubstr(key)));
  EXPECT_THAT(Read(stream, 0, {.dp = 1, .cp = 1}), IsError(ErrorCode::kCorrupt, HasSubstr(key)));
}

}  // namespace
}  // namespace batchweave
