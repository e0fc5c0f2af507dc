#include "batchweave/lifecycle/reclaim.h"

#include <gmock/gmock.h>

#include "batchweave/lifecycle/checkpoint.h"
#include "batchweave/lifecycle/reachable.h"
#include "batchweave/lifecycle/tombstone.h"
#include "batchweave/lifecycle/trim.h"
#include "batchweave/log/progress.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/store/metered_store.h"
#include "batchweave/testing/begun_uploads.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/live_stream.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

// Steps 0 to 11, of which a group holds those from 7 on; the rest is trimmed, partly out of archived objects. A
// producer was fenced and left an upload, another has one under way.
void SetUpStream(LiveStream& stream) {
  stream.Open("gone");
  stream.Append("gone", 2);
  stream.Upload("gone", stream.Newest().rows[0].incarnation, 3);
  stream.Open("gone");
  stream.Finish("gone");
  const Incarnation tok = stream.Open("tok");
  stream.Append("tok", 10);
  stream.Archive(3);
  stream.Archive(3);
  stream.Archive(3);
  stream.Fold();
  stream.Upload("tok", tok, 11);
  ASSERT_THAT(CreateGroup(stream.log(), "train", Step{7}, kForever), IsOk());
  ASSERT_THAT(Trim(stream.log(), kForever), IsOk());
}

// What the newest version reaches, ordered.
std::vector<std::string> Reached(LiveStream& stream) {
  std::vector<std::string> keys;
  const Manifest newest = stream.Newest();
  const auto visit = [&](const ReachedObject& object) -> Result<void> {
    keys.push_back(object.key);
    return {};
  };
  EXPECT_THAT(WalkReachable(stream.log(), newest, newest.next_step, visit), IsOk());
  std::ranges::sort(keys);
  return keys;
}

// What is stored besides versions, what is reached, and stream.json.
std::vector<std::string> Unreached(LiveStream& stream) {
  std::vector<std::string> keys;
  std::ranges::set_difference(stream.Keys(stream.keys().StreamPrefix()), Reached(stream), std::back_inserter(keys));
  std::erase_if(keys, [&](const std::string& key) { return key.starts_with(stream.keys().ManifestPrefix()); });
  return keys;
}

class ReclaimTest : public ::testing::Test {
 protected:
  ReclaimTest() { SetUpStream(stream_); }
  Result<ReclaimReport> Run(const ReclaimOptions& options = {}) { return Reclaim(stream_.log(), options); }

  MemoryStore store_;
  BegunUploads uploads_;
  LiveStream stream_{store_, &uploads_};
};

// Covers D4, I9.
TEST_F(ReclaimTest, LeavesWhatIsReachedPlaceholdersHintsAndUploadsOfTheLivingAndNothingElse) {
  ASSERT_THAT(ProgressReporter(stream_.log(), "train").Report(Step{8}), IsOk());
  ASSERT_THAT(PutBytes(store_, stream_.keys().Progress("dropped"), {}, PutMode::kCreate), IsOk());
  const Incarnation tok = stream_.Newest().rows[1].incarnation;
  ASSERT_THAT(Run(), IsOk());
  const std::vector<std::string> left = Unreached(stream_);
  ASSERT_THAT(left, SizeIs(3));
  EXPECT_EQ(left[0], stream_.keys().ArchivePrefix() + "_");
  EXPECT_EQ(ParseKey(stream_.keys(), left[1])->incarnation, tok);
  EXPECT_EQ(left[2], stream_.keys().Progress("train"));
  for (const std::string& key : Reached(stream_)) EXPECT_THAT(store_.Stat(key), IsOk()) << key;
}

TEST_F(ReclaimTest, TellsWhatItRemovedAndHasNothingToDoTheSecondTime) {
  const uint64_t dead_data = 2 + 1 + 5;  // Of gone: committed and fenced; of tok: trimmed.
  const Result<ReclaimReport> dry = Run({.dry_run = true});
  ASSERT_THAT(dry, IsOk());
  const std::vector<std::string> before = stream_.Keys();
  EXPECT_EQ(stream_.Keys(), before) << "a dry run changes nothing";
  const Result<ReclaimReport> report = Run();
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->objects, dead_data + 2) << "and two archived objects";
  EXPECT_EQ(report->objects, dry->objects);
  EXPECT_EQ(report->bytes, dry->bytes);
  EXPECT_EQ(stream_.Keys().size(), before.size() - report->objects + 1) << "and a placeholder";
  EXPECT_EQ(Run()->objects, 0u);
}

TEST_F(ReclaimTest, AKeyThatItDoesNotUnderstandStays) {
  const std::string foreign = stream_.keys().DataPrefix() + "tok/notes.txt";
  ASSERT_THAT(PutBytes(store_, foreign, AsBytes("mine"), PutMode::kCreate), IsOk());
  const Result<ReclaimReport> report = Run();
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->not_understood, 1u);
  EXPECT_THAT(report->examples, ElementsAre(foreign));
  EXPECT_THAT(store_.Read(foreign), IsOkAndHolds(ToBytes("mine")));
}

// Covers I9.
TEST_F(ReclaimTest, AbortsUploadsOfWhatNobodyWillNameAndNoOther) {
  const StreamKeys& keys = stream_.keys();
  const std::vector<ProducerRow> rows = stream_.Newest().rows;
  const std::string living = keys.Data("tok", rows[1].incarnation, 12, 7);
  const std::string foreign = keys.DataPrefix() + "tok/notes.txt";
  const std::string of_another_stream = "other" + living.substr(keys.name.size());
  const std::vector<std::string> begun{keys.Data("tok", rows[1].incarnation, 10, 7),
                                       living,
                                       keys.Data("gone", Incarnation{rows[0].incarnation.value - 1}, 4, 7),
                                       foreign,
                                       keys.Data("gone", rows[0].incarnation, 3, 7),
                                       of_another_stream};
  for (const std::string& key : begun) uploads_.Begin(key);
  EXPECT_EQ(Run({.dry_run = true})->uploads, 3u);
  EXPECT_EQ(uploads_.Keys(), begun);
  const Result<ReclaimReport> report = Run();
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->uploads, 3u);
  EXPECT_THAT(uploads_.Keys(), ElementsAre(living, foreign, of_another_stream));
  EXPECT_EQ(Run()->uploads, 0u);
}

TEST_F(ReclaimTest, WhatFailsOfUploadsIsToldAndTheNextRunEndsIt) {
  stream_.Tick(kLiveVersions);
  const Incarnation gone = stream_.Newest().rows[0].incarnation;
  for (const uint64_t nonce : {1u, 2u}) uploads_.Begin(stream_.keys().Data("gone", gone, 3, nonce));
  for (const int call : {1, 3}) {  // The list; the second abort.
    uploads_.FailCall(call);
    const Result<ReclaimReport> report = Run();
    ASSERT_THAT(report, IsOk());
    ASSERT_TRUE(report->uploads_error);
    EXPECT_EQ(report->uploads_error->code, ErrorCode::kDenied);
    EXPECT_EQ(report->uploads, call == 1 ? 0u : 1u);
    EXPECT_THAT(Unreached(stream_), SizeIs(2)) << "all else is done";
  }
  const Result<ReclaimReport> last = Run();
  EXPECT_FALSE(last->uploads_error);
  EXPECT_EQ(last->uploads, 1u);
  EXPECT_THAT(uploads_.Keys(), ::testing::IsEmpty());
}

TEST_F(ReclaimTest, RetiresOldVersions) {
  stream_.Tick(kLiveVersions);
  const uint64_t old = stream_.Newest().version.value - kLiveVersions;
  EXPECT_EQ(Run({.dry_run = true})->tombstones, old);
  EXPECT_EQ(Run()->tombstones, old);
  EXPECT_THAT(stream_.log().Read(Version{old}), IsError(ErrorCode::kTrimmed));
  EXPECT_THAT(stream_.log().Read(Version{old + 1}), IsOk());
}

// Covers D5.
TEST_F(ReclaimTest, WhatIsCommittedBetweenListingAndJudgingIsKept) {
  bool committed = false;
  const auto commit_after_listing = [&](std::string_view prefix) {
    if (prefix == stream_.keys().IntentPrefix() && !std::exchange(committed, true)) stream_.Append("tok", 2);
    return false;
  };
  // The listing of data is over when that of intents begins; the one of data is raced by the stat after it.
  FaultyStore store(store_, {.filter = {.calls = kCallList, .key = commit_after_listing}});
  ManifestLog log = stream_.LogOver(store);
  ASSERT_THAT(Reclaim(log), IsOk());
  EXPECT_THAT(stream_.Keys(), IsSupersetOf(Reached(stream_)));
}

// Covers D5.
TEST_F(ReclaimTest, ListsBeforeItReadsTheVersionThatItJudgesBy) {
  std::vector<std::string> calls;
  const auto note = [&](std::string_view key) {
    if (key.starts_with(stream_.keys().DataPrefix())) calls.push_back("data");
    if (key.starts_with(stream_.keys().ManifestPrefix())) calls.push_back("manifest");
    return false;
  };
  FaultyStore store(store_, {.filter = {.calls = kCallList | kCallStat | kCallDelete, .key = note}});
  ManifestLog log = stream_.LogOver(store);
  ASSERT_THAT(Reclaim(log), IsOk());
  const auto list = std::ranges::find(calls, "data");
  ASSERT_NE(list, calls.end());
  EXPECT_EQ(*(list + 1), "manifest");
  EXPECT_EQ(*(list + 2), "data") << "the delete";
}

TEST_F(ReclaimTest, WithoutTheRightToDeleteItSaysSo) {
  FaultyStore store(
      store_,
      {.fail_call = 1, .calls = Fault::kAllCalls, .code = ErrorCode::kDenied, .filter = {.calls = kCallDelete}});
  ManifestLog log = stream_.LogOver(store);
  EXPECT_THAT(Reclaim(log), IsError(ErrorCode::kDenied, AllOf(HasSubstr("the right to delete is missing"),
                                                              HasSubstr("first=" + stream_.keys().DataPrefix()))));
  EXPECT_THAT(Reclaim(log, {.dry_run = true}), IsOk());
  EXPECT_THAT(stream_.Keys(), IsSupersetOf(Reached(stream_)));
  const ReclaimReport report = *Run();
  EXPECT_GT(report.objects, 0u);
  EXPECT_THAT(Unreached(stream_), SizeIs(2));
}

TEST_F(ReclaimTest, WithoutTheRightToOverwriteItSaysWhichVersionStays) {
  stream_.Tick(70);
  FaultyStore store(store_, {.fail_call = 1,
                             .calls = Fault::kAllCalls,
                             .code = ErrorCode::kDenied,
                             .filter = {.calls = kCallOverwrite, .key = KeyContains("/manifest/")}});
  ManifestLog log = stream_.LogOver(store);
  EXPECT_THAT(Reclaim(log), IsError(ErrorCode::kDenied, HasSubstr("the right to overwrite is missing: version=1")));
  EXPECT_GT(Run()->tombstones, 0u);
}

TEST_F(ReclaimTest, OfAStreamOfNewerSoftwareRemovesNothing) {
  stream_.Change([](Manifest& next) { next.writer_features = uint64_t{1} << 63; });
  const std::vector<std::string> before = stream_.Keys();
  EXPECT_THAT(Run(), IsError(ErrorCode::kIncompatible));
  EXPECT_EQ(stream_.Keys(), before);
}

TEST_F(ReclaimTest, AMissingLiveObjectOfHistoryStopsItBeforeItRemovesAnything) {
  const Manifest newest = stream_.Newest();
  ASSERT_THAT(newest.archives, SizeIs(1));
  const std::string index = stream_.keys().Archive(newest.archives[0]);
  ASSERT_THAT(store_.Delete({&index, 1}), IsOk());
  const std::vector<std::string> before = stream_.Keys();
  EXPECT_THAT(Run(), IsError(ErrorCode::kCorrupt));
  EXPECT_EQ(stream_.Keys(), before);
}

// Covers D6.
TEST_F(ReclaimTest, AsksNoClock) {
  stream_.env().clock.SleepUntil(After(stream_.env().clock.Now(), std::chrono::hours(100'000)));
  ASSERT_THAT(Run(), IsOk());
  EXPECT_THAT(stream_.Keys(), IsSupersetOf(Reached(stream_)));
}

// Covers D7.
TEST_F(ReclaimTest, AReaderOfAnOldVersionFindsItsObjectOrLearnsThatTheStepIsTrimmed) {
  const Manifest paused = stream_.Newest();
  ASSERT_THAT(RegisterCheckpoint(stream_.log(), {.holder = {"train", {}}, .name = "c", .position = {12}}, kForever),
              IsOk());
  ASSERT_THAT(Run(), IsOk());
  const Entry& entry = paused.tail.back();
  const std::string key = stream_.keys().Data(entry.producer, entry.incarnation, entry.seq, entry.parts[0].nonce);
  EXPECT_THAT(store_.Read(key), IsError(ErrorCode::kNotFound));
  EXPECT_LT(Previous(Version{paused.next_step.value}).value, stream_.Newest().first_step.value);
}

// Covers D8.
TEST_F(ReclaimTest, DeletesInBatches) {
  stream_.Append("tok", 2500);
  ASSERT_THAT(RegisterCheckpoint(stream_.log(), {.holder = {"train", {}}, .name = "c", .position = {2500}}, kForever),
              IsOk());
  MeteredStore store(store_);
  ManifestLog log = stream_.LogOver(store);
  const Result<ReclaimReport> report = Reclaim(log);
  ASSERT_THAT(report, IsOk());
  EXPECT_GT(report->objects, 2490u);
  EXPECT_LE(store.usage().deletes, 4u);
}

TEST_F(ReclaimTest, AfterACheckpointOnlyWhatItTrimmedIsLookedAt) {
  ASSERT_THAT(Run(), IsOk());
  stream_.Append("tok", 100);
  const Manifest before = stream_.Newest();
  const CheckpointRequest request{.holder = {"train", {}}, .name = "c", .position = {10}};
  const LoggedManifest after = *RegisterCheckpoint(stream_.log(), request, kForever);
  MeteredStore store(store_);
  ManifestLog log = stream_.LogOver(store);
  const Result<ReclaimReport> report = ReclaimTrimmed(log, before, after.manifest);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->objects, 5u) << "three batches, archived entries, and their index";
  EXPECT_LE(store.usage().requests(), 6u);
  EXPECT_EQ(store.usage().lists, 0u);
  EXPECT_EQ(Run()->objects, 1u) << "an upload whose seq was committed with other bytes";
  EXPECT_THAT(stream_.Keys(), IsSupersetOf(Reached(stream_)));
  EXPECT_THAT(ReclaimTrimmed(log, before, after.manifest), IsOk()) << "once more, with nothing left to be found";
}

// Covers I8, I9, D1.
TEST(ReclaimSweepTest, ARunThatFailsAnywhereKeepsWhatIsReachedAndTheNextOneEndsIt) {
  std::vector<std::string> expected;
  ForEachFailure([&](const Fault& fault) {
    MemoryStore memory;
    LiveStream stream(memory);
    SetUpStream(stream);
    stream.Tick(kLiveVersions);
    FaultyStore store(memory, fault);
    ManifestLog log = stream.LogOver(store);
    const Result<ReclaimReport> first = Reclaim(log, {.overwrite_probed = true});
    EXPECT_TRUE(first.ok() || FailedWith(first, ErrorCode::kUnavailable));
    EXPECT_THAT(stream.Keys(), IsSupersetOf(Reached(stream)));
    EXPECT_THAT(Reclaim(stream.log(), {.overwrite_probed = true}), IsOk());
    if (expected.empty()) expected = Unreached(stream);
    EXPECT_EQ(Unreached(stream), expected);
    EXPECT_THAT(stream.Keys(), IsSupersetOf(Reached(stream)));
    return store.fired();
  });
  EXPECT_THAT(expected, SizeIs(2)) << "a placeholder, and the upload of the living";
}

// Covers I9.
TEST(ReclaimSweepTest, DeletesThatComeLateHarmNothing) {
  MemoryStore memory;
  LiveStream stream(memory);
  SetUpStream(stream);
  FaultyStore store(memory, {.fail_call = 1, .when = FaultWhen::kLater, .filter = {.calls = kCallDelete}});
  ManifestLog log = stream.LogOver(store);
  EXPECT_THAT(Reclaim(log), IsError(ErrorCode::kUnavailable));
  EXPECT_THAT(Reclaim(log), IsOk());
  stream.Append("tok", 3);
  stream.Open("gone");
  stream.Append("gone", 2);
  const std::vector<std::string> before = stream.Keys();
  store.ApplyDelayed();
  EXPECT_EQ(stream.Keys(), before);
}

}  // namespace
}  // namespace batchweave
