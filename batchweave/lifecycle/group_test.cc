#include "batchweave/lifecycle/group.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "batchweave/lifecycle/checkpoint.h"
#include "batchweave/lifecycle/trim.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/live_stream.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNull;

class GroupTest : public ::testing::Test {
 protected:
  GroupTest() {
    stream_.Open("tok");
    stream_.Append("tok", 10);
  }

  // Trims the stream to `step`, and leaves the group "holder" there.
  void TrimTo(Step step) {
    ASSERT_THAT(CreateGroup(stream_.log(), "holder", step, kForever), IsOk());
    ASSERT_THAT(Trim(stream_.log(), kForever), IsOk());
  }

  MemoryStore store_;
  LiveStream stream_{store_};
};

TEST_F(GroupTest, HoldsFromItsStartAndHasNoSessionAtFirst) {
  ASSERT_THAT(CreateGroup(stream_.log(), "train", Step{4}, kForever), IsOk());
  const Manifest newest = stream_.Newest();
  const GroupRow* group = FindGroup(newest, "train");
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(*group, (GroupRow{.name = "train", .start = {4}, .smallest_held = {4}}));
}

TEST_F(GroupTest, CreatingTellsWhatIsWrong) {
  TrimTo(Step{3});
  ManifestLog& log = stream_.log();
  EXPECT_THAT(CreateGroup(log, "a/b", Step{5}, kForever), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(CreateGroup(log, "holder", Step{5}, kForever), IsError(ErrorCode::kAlreadyExists));
  EXPECT_THAT(CreateGroup(log, "late", Step{2}, kForever), IsError(ErrorCode::kTrimmed, HasSubstr("step=2 first=3")));
  EXPECT_THAT(CreateGroup(log, "early", Step{11}, kForever), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(CreateGroup(log, "edge", Step{10}, kForever), IsOk());
}

TEST_F(GroupTest, SixtyFiveGroupsAreOneTooMany) {
  for (size_t i = 0; i < kGroupsMax; ++i) {
    ASSERT_THAT(CreateGroup(stream_.log(), fmt::format("group-{}", i), Step{0}, kForever), IsOk());
  }
  EXPECT_THAT(CreateGroup(stream_.log(), "one-more", Step{0}, kForever), IsError(ErrorCode::kDenied));
}

TEST_F(GroupTest, ASessionIsTheNumberOfItsVersionAndFencesTheOneBefore) {
  ManifestLog& log = stream_.log();
  ASSERT_THAT(CreateGroup(log, "train", Step{0}, kForever), IsOk());
  const Result<Session> first = OpenGroupSession(log, "train", Step{0}, kForever);
  ASSERT_THAT(first, IsOkAndHolds(Session{stream_.Newest().version.value}));
  const Result<Session> second = OpenGroupSession(log, "train", Step{6}, kForever);
  ASSERT_THAT(second, IsOkAndHolds(Session{first->value + 1}));
  EXPECT_THAT(DropGroup(log, {"train", *first}, kForever), IsError(ErrorCode::kFenced));
  const Manifest newest = stream_.Newest();
  EXPECT_EQ(FindGroup(newest, "train")->smallest_held, Step{6});
}

TEST_F(GroupTest, ASessionStartsWhereThereAreSteps) {
  TrimTo(Step{3});
  EXPECT_THAT(OpenGroupSession(stream_.log(), "holder", Step{2}, kForever), IsError(ErrorCode::kTrimmed));
  EXPECT_THAT(OpenGroupSession(stream_.log(), "holder", Step{11}, kForever), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(OpenGroupSession(stream_.log(), "nobody", Step{5}, kForever), IsError(ErrorCode::kNotFound));
}

TEST_F(GroupTest, DroppingLetsGoOfEverything) {
  ManifestLog& log = stream_.log();
  ASSERT_THAT(CreateGroup(log, "train", Step{0}, kForever), IsOk());
  ASSERT_THAT(RegisterCheckpoint(log, {.holder = {"train", {}}, .name = "a", .position = {2}, .pin = true}, kForever),
              IsOk());
  ASSERT_THAT(DropGroup(log, {"train", {}}, kForever), IsOk());
  const Manifest newest = stream_.Newest();
  EXPECT_THAT(FindGroup(newest, "train"), IsNull());
  EXPECT_THAT(newest.checkpoints, IsEmpty());
  EXPECT_THAT(DropGroup(log, {"train", {}}, kForever), IsError(ErrorCode::kNotFound));
}

// Covers M9, C3.
TEST_F(GroupTest, ATrimThatIsFasterIsSeenByTheCreationThatLost) {
  bool trimmed = false;
  const auto trim_first = [&](std::string_view) {
    if (!std::exchange(trimmed, true)) TrimTo(Step{5});
    return false;
  };
  FaultyStore store(store_, {.filter = {.calls = kCallCreate, .key = trim_first}});
  ManifestLog log = stream_.LogOver(store);
  EXPECT_THAT(CreateGroup(log, "late", Step{2}, kForever), IsError(ErrorCode::kTrimmed));
  const Manifest newest = stream_.Newest();
  EXPECT_THAT(FindGroup(newest, "late"), IsNull());
}

// Covers I8.
TEST(GroupSweepTest, AGroupWhoseCreationFailsAnywhereIsThereOnceOrNot) {
  ForEachFailure([](const Fault& fault) {
    MemoryStore memory;
    LiveStream stream(memory);
    FaultyStore store(memory, fault);
    ManifestLog log = stream.LogOver(store);
    const Result<LoggedManifest> created = CreateGroup(log, "train", Step{0}, kForever);
    const Manifest newest = stream.Newest();
    EXPECT_EQ(FindGroup(newest, "train") != nullptr, created.ok());
    EXPECT_TRUE(created.ok() || FailedWith(created, ErrorCode::kUnavailable));
    return store.fired();
  });
}

}  // namespace
}  // namespace batchweave
