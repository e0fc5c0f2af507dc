#include "batchweave/lifecycle/checkpoint.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "batchweave/lifecycle/trim.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/store/metered_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/live_stream.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() {
    stream_.Open("tok");
    stream_.Append("tok", 10);
    EXPECT_THAT(CreateGroup(stream_.log(), "train", Step{0}, kForever), IsOk());
    session_ = *OpenGroupSession(stream_.log(), "train", Step{0}, kForever);
  }

  Result<LoggedManifest> Register(CheckpointRequest request) {
    request.holder = {"train", session_};
    return RegisterCheckpoint(stream_.log(), request, kForever);
  }
  Result<LoggedManifest> Release(std::string_view name) {
    return ReleaseCheckpoint(stream_.log(), {"train", session_}, name, kForever);
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const Checkpoint& checkpoint : stream_.Newest().checkpoints) names.push_back(checkpoint.name);
    return names;
  }

  MemoryStore store_;
  LiveStream stream_{store_};
  Session session_;
};

TEST_F(CheckpointTest, ReplacesTheStartAndTrimsInTheSameVersion) {
  const Version before = stream_.Newest().version;
  const Result<LoggedManifest> registered = Register({.name = "a", .position = {4}});
  ASSERT_THAT(registered, IsOk());
  EXPECT_EQ(registered->manifest.version, Next(before));
  EXPECT_EQ(registered->manifest.first_step, Step{4});
  EXPECT_EQ(registered->manifest.groups[0].smallest_held, Step{4});
  EXPECT_FALSE(registered->manifest.groups[0].start_held);
}

TEST_F(CheckpointTest, TrimsNothingWhereToldNotTo) {
  ASSERT_THAT(Register({.name = "a", .position = {4}, .trim = false}), IsOk());
  EXPECT_EQ(stream_.Newest().first_step, Step{0});
}

TEST_F(CheckpointTest, TwoAreKeptUnlessToldOtherwise) {
  for (uint64_t step = 1; step <= 4; ++step) {
    ASSERT_THAT(Register({.name = fmt::format("c{}", step), .position = {step}}), IsOk());
  }
  EXPECT_THAT(Names(), ElementsAre("c3", "c4"));
  ASSERT_THAT(Register({.name = "c5", .position = {5}, .keep_last = 3}), IsOk());
  EXPECT_THAT(Names(), ElementsAre("c3", "c4", "c5"));
  ASSERT_THAT(Register({.name = "c6", .position = {6}, .keep_last = 1}), IsOk());
  EXPECT_THAT(Names(), ElementsAre("c6"));
  EXPECT_EQ(stream_.Newest().first_step, Step{6});
}

// Covers M12.
TEST_F(CheckpointTest, AfterARollbackTheCheckpointJustMadeIsTheLastToGo) {
  ASSERT_THAT(Register({.name = "far", .position = {8}, .trim = false}), IsOk());
  session_ = *OpenGroupSession(stream_.log(), "train", Step{2}, kForever);
  ASSERT_THAT(Register({.name = "back", .position = {3}}), IsOk());
  ASSERT_THAT(Register({.name = "on", .position = {4}}), IsOk());
  EXPECT_THAT(Names(), ElementsAre("back", "on"));
  EXPECT_EQ(stream_.Newest().first_step, Step{3});
}

// Covers M1.
TEST_F(CheckpointTest, OfADeadRunIsFencedAndTrimsNothing) {
  const Session dead = session_;
  session_ = *OpenGroupSession(stream_.log(), "train", Step{2}, kForever);
  const CheckpointRequest late{.holder = {"train", dead}, .name = "late", .position = {9}, .keep_last = 1};
  EXPECT_THAT(RegisterCheckpoint(stream_.log(), late, kForever), IsError(ErrorCode::kFenced, HasSubstr("group=train")));
  EXPECT_THAT(ReleaseCheckpoint(stream_.log(), late.holder, "late", kForever), IsError(ErrorCode::kFenced));
  EXPECT_EQ(Watermark(stream_.Newest()), Step{2});
}

TEST_F(CheckpointTest, PinnedOnesAreNotCountedAndStayUntilReleased) {
  ASSERT_THAT(Register({.name = "golden", .position = {1}, .pin = true}), IsOk());
  for (uint64_t step = 2; step <= 5; ++step) {
    ASSERT_THAT(Register({.name = fmt::format("c{}", step), .position = {step}}), IsOk());
  }
  EXPECT_THAT(Names(), ElementsAre("golden", "c4", "c5"));
  EXPECT_EQ(stream_.Newest().first_step, Step{1});
  ASSERT_THAT(Release("golden"), IsOk());
  EXPECT_EQ(Watermark(stream_.Newest()), Step{4});
}

TEST_F(CheckpointTest, ANameRegisteredAgainMovesAndIsTheNewest) {
  ASSERT_THAT(Register({.name = "latest", .position = {1}}), IsOk());
  ASSERT_THAT(Register({.name = "other", .position = {2}}), IsOk());
  ASSERT_THAT(Register({.name = "latest", .position = {3}}), IsOk());
  EXPECT_THAT(Names(), ElementsAre("other", "latest"));
  EXPECT_EQ(stream_.Newest().checkpoints.back().position, Step{3});
}

TEST_F(CheckpointTest, TheLastOneIsNotReleased) {
  ASSERT_THAT(Register({.name = "a", .position = {4}}), IsOk());
  EXPECT_THAT(Release("b"), IsError(ErrorCode::kNotFound));
  EXPECT_THAT(Release("a"), IsError(ErrorCode::kInvalidArgument, HasSubstr("drop the group instead")));
  ASSERT_THAT(Register({.name = "b", .position = {5}}), IsOk());
  EXPECT_THAT(Release("a"), IsOk());
}

TEST_F(CheckpointTest, TellsWhatIsWrong) {
  ASSERT_THAT(Register({.name = "a", .position = {4}}), IsOk());
  EXPECT_THAT(Register({.name = "b", .position = {3}}), IsError(ErrorCode::kTrimmed));
  EXPECT_THAT(Register({.name = "b", .position = {11}}), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(Register({.name = "", .position = {5}}), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(Register({.name = "b", .position = {5}, .keep_last = 0}), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(
      RegisterCheckpoint(stream_.log(), {.holder = {"nobody", session_}, .name = "b", .position = {5}}, kForever),
      IsError(ErrorCode::kNotFound));
}

TEST(CheckpointLimitTest, AThousandIsAllThereMayBe) {
  Manifest manifest = MakeManifest();
  manifest.groups = {{.name = "train"}};
  CheckpointRequest request{.holder = {"train", {}}, .name = {}, .position = {}, .keep_last = kCheckpointsMax + 1};
  for (size_t i = 0; i < kCheckpointsMax; ++i) {
    manifest.version = Next(manifest.version);
    request.name = fmt::format("c{}", i);
    ASSERT_THAT(ApplyCheckpoint(manifest, request), IsOk());
  }
  request.name = "one-more";
  EXPECT_THAT(ApplyCheckpoint(manifest, request), IsError(ErrorCode::kDenied));
}

// Covers M11.
TEST_F(CheckpointTest, DeletesNothing) {
  MeteredStore store(store_);
  ManifestLog log = stream_.LogOver(store);
  const CheckpointRequest request{.holder = {"train", session_}, .name = "a", .position = {4}};
  ASSERT_THAT(RegisterCheckpoint(log, request, kForever), IsOk());
  ASSERT_THAT(DropGroup(log, request.holder, kForever), IsOk());
  EXPECT_EQ(store.usage().deletes, 0u);
  EXPECT_EQ(store.usage().creates, 2u);
}

// Covers I8.
TEST(CheckpointSweepTest, ThatFailsAnywhereIsMadeOrNotAndHoldsWhatItDid) {
  ForEachFailure([](const Fault& fault) {
    MemoryStore memory;
    LiveStream stream(memory);
    stream.Open("tok");
    stream.Append("tok", 6);
    stream.Archive(4);
    EXPECT_THAT(CreateGroup(stream.log(), "train", Step{1}, kForever), IsOk());
    FaultyStore store(memory, fault);
    ManifestLog log = stream.LogOver(store);
    const CheckpointRequest request{.holder = {"train", {}}, .name = "a", .position = {5}};
    const Result<LoggedManifest> made = RegisterCheckpoint(log, request, kForever);
    const Manifest newest = stream.Newest();
    EXPECT_EQ(newest.checkpoints.size(), made.ok() ? 1u : 0u);
    EXPECT_EQ(newest.first_step, Step{made.ok() ? 5u : 0u});
    EXPECT_EQ(Watermark(newest), Step{made.ok() ? 5u : 1u});
    EXPECT_TRUE(made.ok() || FailedWith(made, ErrorCode::kUnavailable));
    return store.fired();
  });
}

}  // namespace
}  // namespace batchweave
