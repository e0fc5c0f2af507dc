#include "batchweave/store/overwrite_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchweave/store/memory_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/removing_store.h"
#include "batchweave/testing/test_env.h"
#include "batchweave/testing/throttling_store.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OverwriteProbeTest : public ::testing::Test {
 protected:
  Result<void> Probe(ObjectStore& store) { return ProbeOverwrite(env_.Over(store), "run/probe/1/"); }
  MemoryStore memory_;
  TestEnv env_;
};

// Covers M5.
TEST_F(OverwriteProbeTest, FindsAServerThatRemovesAndThenWrites) {
  RemovingStore store(memory_);
  EXPECT_THAT(Probe(store), IsError(ErrorCode::kUnsuitableStore, HasSubstr("(overwrite)")));
}

TEST_F(OverwriteProbeTest, LeavesNothingOnAStoreThatDoesItRight) {
  EXPECT_THAT(Probe(memory_), IsOk());
  EXPECT_THAT(memory_.List("", "", 1)->objects, IsEmpty());
}

// Covers E5.
TEST_F(OverwriteProbeTest, AStoreThatTakesOneWriteASecondOfAKeyPassesAndIsLeftInHalfAMinute) {
  for (const ErrorCode refusal : {ErrorCode::kUnavailable, ErrorCode::kUnknownOutcome}) {
    ThrottlingStore store(memory_, env_.clock, refusal);
    const TimePoint begin = env_.clock.Now();
    EXPECT_THAT(Probe(store), IsOk());
    EXPECT_GT(store.refused(), 0u);
    EXPECT_LT(env_.clock.Now(), After(begin, std::chrono::seconds(30)));
    EXPECT_THAT(memory_.List("", "", 1)->objects, IsEmpty());
  }
}

// Covers E5.
TEST_F(OverwriteProbeTest, CreatorsThatAreRefusedMakeNoStorm) {
  for (const ErrorCode refusal : {ErrorCode::kUnavailable, ErrorCode::kUnknownOutcome}) {
    // All but the first create, which is not of the race.
    FaultyStore store(memory_,
                      {.fail_call = 2, .calls = Fault::kAllCalls, .code = refusal, .filter = {.calls = kCallCreate}});
    const TimePoint begin = env_.clock.Now();
    // The clock goes on while the one that overwrites has no processor: then there were too few overwrites to tell.
    const Result<void> probed = Probe(store);
    EXPECT_TRUE(probed.ok() || FailedWith(probed, ErrorCode::kUnavailable)) << ToString(probed.error());
    // Each of four waits for a quarter of a second at least.
    const auto quarters = static_cast<size_t>((env_.clock.Now() - begin) / std::chrono::milliseconds(250));
    EXPECT_LE(store.calls(), 4 * (quarters + 1) + 1);
  }
}

// Covers M5.
TEST_F(OverwriteProbeTest, FindsSuchAServerThoughItTakesOneWriteASecond) {
  RemovingStore removing(memory_);
  ThrottlingStore store(removing, env_.clock, ErrorCode::kUnavailable);
  EXPECT_THAT(Probe(store), IsError(ErrorCode::kUnsuitableStore, HasSubstr("(overwrite)")));
}

TEST_F(OverwriteProbeTest, AStoreThatRefusesEveryOverwriteIsGivenUp) {
  for (const ErrorCode refusal : {ErrorCode::kUnavailable, ErrorCode::kUnknownOutcome}) {
    FaultyStore store(
        memory_, {.fail_call = 1, .calls = Fault::kAllCalls, .code = refusal, .filter = {.calls = kCallOverwrite}});
    EXPECT_THAT(Probe(store), IsError(ErrorCode::kUnavailable));
    EXPECT_LE(store.calls(), 81u) << "twenty seconds of them";
  }
}

}  // namespace
}  // namespace batchweave
