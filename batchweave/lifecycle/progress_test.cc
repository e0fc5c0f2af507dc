#include "batchweave/log/progress.h"

#include <gmock/gmock.h>

#include "batchweave/lifecycle/group.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/store/metered_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/live_stream.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

class ProgressTest : public ::testing::Test {
 protected:
  ProgressTest() {
    stream_.Open("tok");
    stream_.Append("tok", 10);
    EXPECT_THAT(CreateGroup(stream_.log(), "train", Step{3}, kForever), IsOk());
  }

  std::optional<Step> ReadHint(std::string_view bytes) {
    EXPECT_THAT(PutBytes(store_, stream_.keys().Progress("train"), AsBytes(bytes), PutMode::kOverwrite), IsOk());
    return ReadProgress(stream_.log(), stream_.Newest(), "train");
  }

  MemoryStore store_;
  LiveStream stream_{store_};
};

TEST_F(ProgressTest, IsWhatTheRankTold) {
  ProgressReporter reporter(stream_.log(), "train");
  ASSERT_THAT(reporter.Report(Step{7}), IsOk());
  EXPECT_EQ(ReadProgress(stream_.log(), stream_.Newest(), "train"), Step{7});
  EXPECT_EQ(ReadHint("step 10\n"), Step{10});
}

// Covers E1.
TEST_F(ProgressTest, AHintThatIsMissingStaleGarbageOrFromTheFutureIsTheWatermark) {
  EXPECT_EQ(ReadProgress(stream_.log(), stream_.Newest(), "train"), Step{3});
  for (const std::string_view hint :
       {"step 2\n", "step 11\n", "step 18446744073709551615\n", "", "step 7", "step 7\n\n", "step \n", "step -7\n",
        "step 7x\n", "STEP 7\n", "7\n", "step 99999999999999999999\n"}) {
    EXPECT_EQ(ReadHint(hint), Step{3}) << hint;
  }
}

TEST_F(ProgressTest, AStoreThatDoesNotAnswerIsAMissingHint) {
  ASSERT_EQ(ReadHint("step 7\n"), Step{7});
  FaultyStore store(store_, {.fail_call = 1, .filter = {.key = KeyContains("/progress/")}});
  ManifestLog log = stream_.LogOver(store);
  EXPECT_EQ(ReadProgress(log, stream_.Newest(), "train"), Step{3});
}

TEST_F(ProgressTest, TheSlowestGroupCountsAndNoGroupMeansNoWait) {
  ASSERT_THAT(CreateGroup(stream_.log(), "eval", Step{5}, kForever), IsOk());
  ASSERT_EQ(ReadHint("step 7\n"), Step{7});
  EXPECT_EQ(ReadSlowestProgress(stream_.log(), stream_.Newest()), Step{3}) << "eval has no hint";
  EXPECT_EQ(ReadSlowestProgress(stream_.log(), MakeManifest()), std::nullopt);
}

TEST_F(ProgressTest, IsToldAtMostEachInterval) {
  MeteredStore store(store_, "/progress/");
  ManifestLog log = stream_.LogOver(store);
  ProgressReporter reporter(log, "train");
  for (uint64_t step = 4; step <= 9; ++step) ASSERT_THAT(reporter.Report(Step{step}), IsOk());
  EXPECT_EQ(store.usage().overwrites, 1u);
  log.env().clock.SleepUntil(After(log.env().clock.Now(), kProgressInterval));
  ASSERT_THAT(reporter.Report(Step{9}), IsOk());
  EXPECT_EQ(store.usage().overwrites, 2u);
}

// Who waits for the next step calls no more, and the producers wait for him.
// Covers I12.
TEST_F(ProgressTest, IsToldAtOnceWhereAllIsRead) {
  ProgressReporter reporter(stream_.log(), "train");
  const auto told = [&](Step reached) {
    EXPECT_THAT(reporter.Report(reached), IsOk());
    return ReadSlowestProgress(stream_.log(), stream_.Newest()) == reached;
  };
  const Step end = stream_.Newest().next_step;
  EXPECT_TRUE(told(Step{end.value - 2}));
  EXPECT_FALSE(told(Step{end.value - 1}));
  EXPECT_TRUE(told(end));
  stream_.Append("tok", 2);
  EXPECT_TRUE(told(end + 1));
  EXPECT_TRUE(told(end + 2));
}

// A put that was long under way lands on a newer hint: producers with a limit would wait for a step that was read long
// ago, and the rank for theirs. So who goes on waiting tells again.
// Covers E1, I12.
TEST_F(ProgressTest, AHintThatAnOlderOneHasOvertakenIsPutRightByTheNext) {
  FaultyStore store(store_, {.fail_call = 1,
                             .when = FaultWhen::kLater,
                             .code = ErrorCode::kUnknownOutcome,
                             .filter = {.calls = kCallOverwrite}});
  ManifestLog log = stream_.LogOver(store);
  ProgressReporter reporter(log, "train");
  const Step end = stream_.Newest().next_step;
  ASSERT_THAT(reporter.Report(Step{end.value - 1}), IsOk());
  ASSERT_THAT(reporter.Report(end), IsOk());
  ASSERT_EQ(ReadSlowestProgress(log, stream_.Newest()), end);
  store.ApplyDelayed();
  ASSERT_EQ(ReadSlowestProgress(log, stream_.Newest()), Step{end.value - 1});
  log.env().clock.SleepUntil(After(log.env().clock.Now(), kProgressInterval));
  ASSERT_THAT(reporter.Report(end), IsOk());
  EXPECT_EQ(ReadSlowestProgress(log, stream_.Newest()), end);
}

TEST_F(ProgressTest, ADeniedHintIsReportedOnceAndThenIgnored) {
  FaultyStore store(store_, {.fail_call = 1, .calls = Fault::kAllCalls, .code = ErrorCode::kDenied});
  ManifestLog log = stream_.LogOver(store);
  ProgressReporter reporter(log, "train");
  EXPECT_THAT(reporter.Report(Step{4}), IsError(ErrorCode::kDenied));
  log.env().clock.SleepUntil(After(log.env().clock.Now(), kProgressInterval));
  EXPECT_THAT(reporter.Report(Step{5}), IsOk());
  EXPECT_EQ(store.calls(), 1u);
}

}  // namespace
}  // namespace batchweave
