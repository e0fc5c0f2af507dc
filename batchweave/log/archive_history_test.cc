#include "batchweave/log/archive_history.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "batchweave/log/change.h"
#include "batchweave/log/history.h"
#include "batchweave/log/producer_rows.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/stream_builder.h"
#include "batchweave/testing/test_env.h"

namespace batchweave {
namespace {

// Small enough that a few steps are history already.
constexpr ArchiveLimits kSmall{.tail_bytes_low = 1500,
                               .tail_bytes_high = 1500,
                               .tail_bytes_kept = 600,
                               .object_bytes_max = 400,
                               .rows_bytes_low = 1000,
                               .rows_bytes_high = 1000,
                               .row_versions_kept = 5};

Entry Batch(std::string producer, uint64_t seq) {
  return {.producer = std::move(producer),
          .incarnation = {1},
          .seq = seq,
          .grid = {.dp = 1, .cp = 1},
          .parts = {{.nonce = seq, .range = {0, 1, 0, 1}, .slice_bytes = {8}, .object_bytes = 128, .footer_bytes = 64}},
          .content_type = "text/plain",
          .cursor = ToBytes("after " + std::to_string(seq))};
}

// A manifest that grows as a committer would have it, on a store that may fail.
class ArchiveHistoryTest : public ::testing::Test {
 protected:
  ManifestLog OpenLog(ObjectStore& store) { return {env_.Over(store), stream_.keys(), stream_.stream_json_hash()}; }
  // Appends one batch of `producer`, which is opened by it, and archives.
  Result<void> Grow(ManifestLog& log, const std::string& producer = "a") {
    Manifest next = manifest_;
    next.version = Next(next.version);
    RowTable table;
    BW_TRY(BringRows(log, table, {&producer, 1}, next));
    ProducerRow& row = FindOrAddRow(next, producer);
    row.incarnation = row.incarnation == Incarnation{} ? Incarnation{next.version.value} : row.incarnation;
    row.step = next.next_step;
    next.tail.push_back(Batch(producer, ++row.seq));
    next.next_step = next.next_step + 1;
    BW_TRY(ArchiveHistory(log, next, manifest_.next_step, kForever, kSmall));
    manifest_ = std::move(next);
    return {};
  }
  void ExpectWholeHistory(ManifestLog& log) {
    uint64_t expected = 0;
    EXPECT_THAT(ForEachEntry(log, manifest_, {.first = {0}, .end = manifest_.next_step},
                             [&](Step step, const Entry&) -> Result<void> {
                               EXPECT_EQ(step.value, expected++);
                               return {};
                             }),
                IsOk());
    EXPECT_EQ(expected, manifest_.next_step.value);
  }

  MemoryStore memory_;
  StreamBuilder stream_{memory_};
  TestEnv env_;
  Manifest manifest_ = EmptyManifest(stream_.keys().stream_id, stream_.stream_json_hash());
};

// Covers I3.
TEST_F(ArchiveHistoryTest, TailStaysBoundedAndEveryStepIsStillThere) {
  ManifestLog log = OpenLog(memory_);
  for (int i = 0; i < 2000; ++i) {
    ASSERT_THAT(Grow(log), IsOk());
    EXPECT_LE(TailBytes(manifest_), kSmall.tail_bytes_high);
  }
  // Refs are folded at 64 of one level, so that there are few at each.
  EXPECT_LT(manifest_.archives.size(), 2 * 64u);
  EXPECT_GT(manifest_.archives.front().level, 0);
  ExpectWholeHistory(log);
  EXPECT_THAT(DecodeManifest(EncodeManifest(manifest_).bytes), IsOkAndHolds(manifest_));
}

TEST_F(ArchiveHistoryTest, RefsTellHowManyBytesLieBelow) {
  ManifestLog log = OpenLog(memory_);
  for (int i = 0; i < 700; ++i) ASSERT_THAT(Grow(log), IsOk());
  uint64_t bytes = manifest_.tail.size() * 128;
  for (const ArchiveRef& ref : manifest_.archives) bytes += ref.payload_bytes;
  EXPECT_EQ(bytes, 700u * 128);
}

// Covers M3.
TEST_F(ArchiveHistoryTest, SeqOfAProducerIsNeverRolledBackByArchivingItsRow) {
  ManifestLog log = OpenLog(memory_);
  for (int i = 0; i < 400; ++i) ASSERT_THAT(Grow(log, "producer-" + std::to_string(i % 37)), IsOk());
  ASSERT_TRUE(manifest_.archived_rows);
  EXPECT_LE(RowsBytes(manifest_), kSmall.rows_bytes_high);
  const Result<std::vector<ProducerRow>> rows = ReadRows(log, manifest_);
  ASSERT_THAT(rows, IsOk());
  ASSERT_EQ(rows->size(), 37u);
  for (const ProducerRow& row : *rows) {
    const uint64_t number = std::stoul(row.producer.substr(9));
    EXPECT_EQ(row.seq, number < 400 % 37 ? 11u : 10u);
    EXPECT_THAT(CommittedCursor(log, manifest_, row), IsOkAndHolds(ToBytes("after " + std::to_string(row.seq))));
  }
}

TEST_F(ArchiveHistoryTest, ForgottenProducerGoesOnceItsStepsAreTrimmedAndItsOpeningIsLongAgo) {
  ManifestLog log = OpenLog(memory_);
  for (const char* name : {"forgotten", "finished", "fresh"}) ASSERT_THAT(Grow(log, name), IsOk());
  FindRow(manifest_, "forgotten")->state = ProducerRow::State::kForgotten;
  FindRow(manifest_, "finished")->state = ProducerRow::State::kFinished;
  const auto names = [&] {
    std::vector<std::string> all;
    for (const ProducerRow& row : *ReadRows(log, manifest_)) all.push_back(row.producer);
    return all;
  };
  for (int i = 0; i < 20; ++i) ASSERT_THAT(Grow(log, "other-" + std::to_string(i)), IsOk());
  EXPECT_THAT(names(), ::testing::Contains("forgotten"));  // Its step is not trimmed.
  manifest_.first_step = {3};
  for (int i = 20; i < 40; ++i) ASSERT_THAT(Grow(log, "other-" + std::to_string(i)), IsOk());
  EXPECT_THAT(names(), ::testing::Not(::testing::Contains("forgotten")));
  EXPECT_THAT(names(), ::testing::Contains("finished"));
}

TEST_F(ArchiveHistoryTest, TableThatIsGoneIsNeverTakenForAProducerThatNeverWas) {
  ManifestLog log = OpenLog(memory_);
  for (int i = 0; i < 20; ++i) ASSERT_THAT(Grow(log, "producer-" + std::to_string(i)), IsOk());
  const std::string key = log.keys().Archive(*manifest_.archived_rows);
  ASSERT_THAT(memory_.Delete({&key, 1}), IsOk());
  EXPECT_THAT(Grow(log, "producer-0"), IsError(ErrorCode::kUnavailable, ::testing::HasSubstr("replaced")));
}

// A committer that slept while its table was replaced and reclaimed: nothing is lost, and nothing is "not found".
TEST_F(ArchiveHistoryTest, TableThatIsGoneWhenRowsAreArchivedMeansToBeginAgain) {
  ManifestLog log = OpenLog(memory_);
  for (int i = 0; i < 20; ++i) ASSERT_THAT(Grow(log, "producer-" + std::to_string(i)), IsOk());
  const std::string key = log.keys().Archive(*manifest_.archived_rows);
  ASSERT_THAT(memory_.Delete({&key, 1}), IsOk());
  Result<void> grown;
  for (int i = 0; grown.ok(); ++i) {
    manifest_.rows.push_back({.producer = "z" + std::to_string(1000 + i), .incarnation = {1}});
    Manifest next = manifest_;
    grown = ArchiveHistory(log, next, next.next_step, kForever, kSmall);
  }
  EXPECT_THAT(grown, IsError(ErrorCode::kUnavailable));
}

// Two committers archive on one base: each writes keys of its own, whoever wins.
// Covers M4.
TEST_F(ArchiveHistoryTest, ArchivesOfALostVersionAreNotUsedAgain) {
  ManifestLog log = OpenLog(memory_);
  for (int i = 0; i < 7; ++i) ASSERT_THAT(Grow(log), IsOk());
  const Manifest base = manifest_;
  const auto grow_until_archived = [&] {
    manifest_ = base;
    while (manifest_.archives.size() == base.archives.size()) ASSERT_THAT(Grow(log), IsOk());
  };
  grow_until_archived();
  const ArchiveRef first = manifest_.archives.back();
  grow_until_archived();
  EXPECT_NE(log.keys().Archive(manifest_.archives.back()), log.keys().Archive(first));
}

// Covers I4.
TEST_F(ArchiveHistoryTest, WhatAVersionNamesIsWrittenBeforeItOrTheVersionIsNotMade) {
  ForEachFailure(
      [&](const Fault& fault) {
        FaultyStore store(memory_, fault);
        ManifestLog log = OpenLog(store);
        manifest_ = EmptyManifest(stream_.keys().stream_id, stream_.stream_json_hash());
        for (int i = 0; i < 30; ++i) static_cast<void>(Grow(log));
        ManifestLog truth = OpenLog(memory_);
        ExpectWholeHistory(truth);
        return store.fired();
      },
      {.calls = kCallWrite});
}

TEST(ArchiveEstimateTest, EstimateOfTheTailIsNearWhatItTakes) {
  Manifest manifest{.version = {1}};
  manifest.rows = {{.producer = "a", .incarnation = {1}, .seq = 500, .step = Step{499}}};
  const uint64_t empty = EncodeManifest(Manifest{.version = {1}}).bytes.size();
  for (uint64_t seq = 1; seq <= 500; ++seq) manifest.tail.push_back(Batch("a", seq));
  manifest.next_step = {500};
  const double takes = static_cast<double>(EncodeManifest(manifest).bytes.size() - empty);
  EXPECT_NEAR(static_cast<double>(TailBytes(manifest)) / takes, 1.0, 0.25);
}

}  // namespace
}  // namespace batchweave
