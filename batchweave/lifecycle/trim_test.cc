#include "batchweave/lifecycle/trim.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "batchweave/lifecycle/checkpoint.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/live_stream.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class TrimTest : public ::testing::Test {
 protected:
  TrimTest() {
    stream_.Open("idle");
    stream_.Append("idle", 1);
    stream_.Open("tok");
    stream_.Append("tok", 9);
  }

  void Hold(std::string_view group, Step step) {
    ASSERT_THAT(CreateGroup(stream_.log(), group, step, kForever), IsOk());
  }
  Result<LoggedManifest> TrimNow() { return Trim(stream_.log(), kForever); }

  MemoryStore store_;
  LiveStream stream_{store_};
};

TEST_F(TrimTest, WithoutAGroupNothingIsTrimmed) {
  const Manifest before = stream_.Newest();
  EXPECT_EQ(Watermark(before), std::nullopt);
  ASSERT_THAT(TrimNow(), IsOk());
  EXPECT_EQ(stream_.Newest(), before);
}

// Covers I8.
TEST_F(TrimTest, GoesToTheSmallestPositionThatAnyGroupHolds) {
  Hold("fast", Step{8});
  Hold("slow", Step{3});
  const Result<LoggedManifest> trimmed = TrimNow();
  ASSERT_THAT(trimmed, IsOk());
  EXPECT_EQ(trimmed->manifest.first_step, Step{3});
  EXPECT_THAT(trimmed->manifest.tail, SizeIs(7));
  EXPECT_EQ(trimmed->manifest.tail_first(), Step{3});
}

TEST_F(TrimTest, OfEverythingLeavesAnEmptyTailThatGoesOn) {
  Hold("done", Step{10});
  ASSERT_THAT(TrimNow(), IsOk());
  EXPECT_THAT(stream_.Newest().tail, IsEmpty());
  stream_.Append("tok", 2);
  EXPECT_EQ(stream_.Newest().next_step, Step{12});
  EXPECT_EQ(stream_.Newest().tail_first(), Step{10});
}

// Covers I5.
TEST_F(TrimTest, CursorsOfWhatGoesMoveIntoTheirRows) {
  const Bytes cursor = stream_.Newest().tail[0].cursor;
  ASSERT_FALSE(cursor.empty());
  Hold("train", Step{5});
  ASSERT_THAT(TrimNow(), IsOk());
  const Manifest newest = stream_.Newest();
  EXPECT_EQ(newest.rows[0].cursor, cursor);
  EXPECT_EQ(newest.rows[0].seq, 1u);
  EXPECT_EQ(newest.rows[0].step, Step{0});
  EXPECT_EQ(newest.rows[1].cursor, std::nullopt);
}

TEST_F(TrimTest, CursorsOfArchivedEntriesMoveToo) {
  const Bytes cursor = stream_.Newest().tail[0].cursor;
  stream_.Archive(2);
  stream_.Archive(2);
  stream_.Fold();
  Hold("train", Step{3});
  ASSERT_THAT(TrimNow(), IsOk());
  const Manifest newest = stream_.Newest();
  EXPECT_EQ(newest.rows[0].cursor, cursor);
  EXPECT_THAT(newest.archives, SizeIs(1)) << "step 3 is still below it";
}

TEST_F(TrimTest, ArchivedRowsWhoseCursorGoesComeBackWithIt) {
  const Bytes cursor = stream_.Newest().tail[0].cursor;
  stream_.ArchiveRows();
  Hold("train", Step{5});
  ASSERT_THAT(TrimNow(), IsOk());
  const Manifest newest = stream_.Newest();
  ASSERT_THAT(newest.rows, SizeIs(1)) << "the other one's last step is still there";
  EXPECT_EQ(newest.rows[0].producer, "idle");
  EXPECT_EQ(newest.rows[0].cursor, cursor);
}

TEST_F(TrimTest, ArchivedObjectsWhollyBelowGo) {
  stream_.Archive(2);
  stream_.Archive(3);
  Hold("train", Step{4});
  ASSERT_THAT(TrimNow(), IsOk());
  const Manifest newest = stream_.Newest();
  ASSERT_THAT(newest.archives, SizeIs(1));
  EXPECT_EQ(newest.archives[0].first, Step{2});
  EXPECT_THAT(newest.tail, SizeIs(5));
}

TEST_F(TrimTest, QuarantinesWhollyBelowGo) {
  stream_.Change([](Manifest& next) {
    next.quarantines = {{.first = {1}, .end = {3}, .reason = "bad", .set_at = next.version},
                        {.first = {2}, .end = {4}, .reason = "bad", .set_at = next.version}};
  });
  Hold("train", Step{3});
  ASSERT_THAT(TrimNow(), IsOk());
  ASSERT_THAT(stream_.Newest().quarantines, SizeIs(1));
  EXPECT_EQ(stream_.Newest().quarantines[0].end, Step{4});
}

TEST_F(TrimTest, HistoryThatIsGoneMakesItBeginAgain) {
  stream_.Archive(2);
  const std::vector<std::string> archived = stream_.Keys(stream_.keys().ArchivePrefix());
  ASSERT_THAT(store_.Delete(archived), IsOk());
  Hold("train", Step{3});
  EXPECT_THAT(TrimNow(), IsError(ErrorCode::kUnavailable));
}

// Covers I2.
TEST(TrimSweepTest, ThatFailsAnywhereIsMadeOrNot) {
  ForEachFailure([](const Fault& fault) {
    MemoryStore memory;
    LiveStream stream(memory);
    stream.Open("tok");
    stream.Append("tok", 6);
    stream.Archive(4);
    stream.Change([](Manifest& next) { next.groups = {{.name = "train", .start = {5}, .smallest_held = {5}}}; });
    const Manifest before = stream.Newest();
    FaultyStore store(memory, fault);
    ManifestLog log = stream.LogOver(store);
    const Result<LoggedManifest> trimmed = Trim(log, kForever);
    const Manifest after = stream.Newest();
    EXPECT_EQ(after.first_step, Step{trimmed.ok() ? 5u : 0u});
    EXPECT_EQ(after.next_step, before.next_step);
    EXPECT_EQ(after.tail.back(), before.tail.back());
    EXPECT_TRUE(trimmed.ok() || FailedWith(trimmed, ErrorCode::kUnavailable));
    return store.fired();
  });
}

// What a group was promised, kept beside the stream: I8 by another count.
struct Promises {
  std::map<std::string, std::map<std::string, Step>> held;  // Group, then checkpoint ("" for the start).
};

void Check(const Manifest& manifest, const Promises& promises) {
  RC_ASSERT(manifest.groups.size() == promises.held.size());
  for (const auto& [group, holds] : promises.held) {
    Step smallest = kNothingHeld;
    for (const auto& [name, step] : holds) smallest = std::min(smallest, step);
    RC_ASSERT(FindGroup(manifest, group) != nullptr);
    RC_ASSERT(FindGroup(manifest, group)->smallest_held == smallest);
    RC_ASSERT(manifest.first_step <= smallest);
  }
}

// One random operation on one of three groups. Whether it must work is told by the promises.
void Operate(LiveStream& stream, Promises& promises) {
  ManifestLog& log = stream.log();
  const std::string group = *rc::gen::element<std::string>("a", "b", "c");
  const std::string name = *rc::gen::element<std::string>("x", "y", "z");
  const Step step{*rc::gen::inRange<uint64_t>(0, stream.Newest().next_step.value + 2)};
  const auto current = promises.held.find(group);
  const bool known = current != promises.held.end();
  const Manifest before = stream.Newest();
  const GroupSession holder{group, known ? FindGroup(before, group)->session : Session{}};
  switch (*rc::gen::inRange(0, 7)) {
    case 0: stream.Append("tok", 2); break;
    case 1: RC_ASSERT(Trim(log, kForever).ok()); break;
    case 2:
      if (CreateGroup(log, group, step, kForever).ok()) promises.held[group] = {{"", step}};
      break;
    case 3:
      if (OpenGroupSession(log, group, step, kForever).ok()) current->second[""] = step;
      break;
    case 4: {
      const CheckpointRequest request{.holder = holder, .name = name, .position = step, .keep_last = 3};
      if (!RegisterCheckpoint(log, request, kForever).ok()) break;
      current->second.erase("");
      current->second[name] = step;
      break;
    }
    case 5:
      if (ReleaseCheckpoint(log, holder, name, kForever).ok()) current->second.erase(name);
      break;
    default: RC_ASSERT(DropGroup(log, holder, kForever).ok() == known); promises.held.erase(group);
  }
}

// Covers I8.
RC_GTEST_PROP(TrimPropertyTest, NothingThatAGroupHoldsIsEverTrimmed, ()) {
  MemoryStore store;
  LiveStream stream(store);
  stream.Open("tok");
  Promises promises;
  Step first_step{};
  for (int operations = *rc::gen::inRange(1, 60); operations > 0; --operations) {
    Operate(stream, promises);
    const Manifest newest = stream.Newest();
    Check(newest, promises);
    RC_ASSERT(newest.first_step >= first_step);
    first_step = newest.first_step;
  }
}

}  // namespace
}  // namespace batchweave
