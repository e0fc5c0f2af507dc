#include "batchweave/format/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <span>
#include <utility>

#include "batchweave/format/object_frame.h"
#include "batchweave/testing/damage.h"
#include "batchweave/testing/format_builders.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/seeded_random.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;
using Kind = ArchiveRef::Kind;

constexpr StreamId kStream{{.high = 1, .low = 2}};

ArchivedEntries MakeEntries() {
  return {.stream_id = kStream, .first = {10}, .entries = {MakeEntry("a", 1), MakeEntry("b", 1)}};
}

ArchiveIndex MakeIndex() {
  return {.stream_id = kStream,
          .children = {{.kind = Kind::kEntries, .version = {5}, .first = {0}, .end = {10}},
                       {.kind = Kind::kEntries, .version = {6}, .first = {10}, .end = {12}}}};
}

ArchivedRows MakeRows() {
  return {.stream_id = kStream,
          .rows = {{.producer = "a", .incarnation = {1}, .seq = 1, .step = Step{10}, .cursor = Bytes()},
                   {.producer = "b", .incarnation = {2}, .state = ProducerRow::State::kFinished}}};
}

template <typename Decode>
void ExpectDamageAndTombstonesAreCorrupt(const Bytes& object, Decode decode) {
  ExpectEveryDamageIsCorrupt(object, decode);
  EXPECT_THAT(decode(EncodeTombstone({.version = {1}})), IsError(ErrorCode::kCorrupt, HasSubstr("tombstone where")));
}

RC_GTEST_PROP(ArchiveProperty, WhatWasEncodedIsDecoded, (uint64_t seed)) {
  SeededRandom random(seed);
  const auto size = *rc::gen::inRange<size_t>(0, 30);
  ArchivedEntries entries{.stream_id = {{.high = seed, .low = 1}}, .first = {seed / 2}};
  ArchiveIndex index{.stream_id = entries.stream_id};
  ArchivedRows rows{.stream_id = entries.stream_id};
  for (size_t i = 0; i <= size; ++i) {
    entries.entries.push_back(ArbitraryEntry(random, size));
    index.children.push_back(ArbitraryRef(random, Kind::kEntries, {i * 7}, {i * 7 + 7}));
    rows.rows.push_back(ArbitraryRow(random));
    rows.rows.back().producer = "p" + std::to_string(1000 + i);
    if (rows.rows.back().state == ProducerRow::State::kGone) rows.rows.back().state = ProducerRow::State::kOpen;
  }
  RC_ASSERT(*DecodeArchivedEntries(EncodeArchivedEntries(entries)) == entries);
  RC_ASSERT(*DecodeArchiveIndex(EncodeArchiveIndex(index)) == index);
  RC_ASSERT(*DecodeArchivedRows(EncodeArchivedRows(rows)) == rows);
}

RC_GTEST_PROP(ArchiveProperty, StepsAreAPartOfTheWhole, (uint64_t seed)) {
  SeededRandom random(seed);
  ArchivedEntries whole{.stream_id = kStream, .first = {100}};
  const auto size = *rc::gen::inRange<size_t>(1, 30);
  for (size_t i = 0; i < size; ++i) whole.entries.push_back(ArbitraryEntry(random, size));
  const ArchiveRef ref{.kind = Kind::kEntries, .first = {100}, .end = {100 + size}};
  const auto first = *rc::gen::inRange<uint64_t>(95, 140);
  const auto count = *rc::gen::inRange<size_t>(0, 50);
  const ArchivedEntries part = *DecodeArchivedSteps(EncodeArchivedEntries(whole), kStream, ref, {first}, count);
  const uint64_t begin = std::clamp<uint64_t>(first, 100, 100 + size) - 100;
  const uint64_t end = begin + std::min<uint64_t>(count, size - begin);
  RC_ASSERT(part.first == Step{100 + begin});
  RC_ASSERT(std::ranges::equal(part.entries, std::span(whole.entries).subspan(begin, end - begin)));
}

TEST(ArchiveTest, APartIsOfTheObjectThatTheRefNames) {
  const Bytes object = EncodeArchivedEntries(MakeEntries());
  const ArchiveRef ref{.kind = Kind::kEntries, .first = {10}, .end = {12}};
  EXPECT_THAT(DecodeArchivedSteps(object, kStream, ref, {11}, 1), IsOk());
  EXPECT_THAT(DecodeArchivedSteps(object, StreamId{}, ref, {11}, 1), IsError(ErrorCode::kCorrupt, HasSubstr("stream")));
  for (const auto& [first, end] : {std::pair<uint64_t, uint64_t>(9, 12), {10, 13}, {10, 11}, {11, 12}}) {
    const ArchiveRef other{.kind = Kind::kEntries, .first = {first}, .end = {end}};
    EXPECT_THAT(DecodeArchivedSteps(object, kStream, other, {11}, 1),
                IsError(ErrorCode::kCorrupt, HasSubstr("other steps")));
  }
}

TEST(ArchiveTest, EveryDamageIsCorrupt) {
  ExpectDamageAndTombstonesAreCorrupt(EncodeArchivedEntries(MakeEntries()), DecodeArchivedEntries);
  ExpectDamageAndTombstonesAreCorrupt(EncodeArchiveIndex(MakeIndex()), DecodeArchiveIndex);
  ExpectDamageAndTombstonesAreCorrupt(EncodeArchivedRows(MakeRows()), DecodeArchivedRows);
}

TEST(ArchiveTest, NoRowsAtAllAreStillATable) {
  EXPECT_THAT(DecodeArchivedRows(EncodeArchivedRows({})), IsOkAndHolds(ArchivedRows{}));
}

TEST(ArchiveDeathTest, RulesAreCheckedBeforeEncoding) {
  EXPECT_DEATH(EncodeArchivedEntries({}), "bug");
  EXPECT_DEATH(EncodeArchiveIndex({}), "bug");
  ArchiveIndex index = MakeIndex();
  index.children[1].first = {11};
  EXPECT_DEATH(EncodeArchiveIndex(index), "bug");
  index = MakeIndex();
  index.children[1].kind = Kind::kIndex;
  index.children[1].level = 1;
  EXPECT_DEATH(EncodeArchiveIndex(index), "bug");
  ArchivedRows rows = MakeRows();
  rows.rows[0].state = ProducerRow::State::kGone;
  EXPECT_DEATH(EncodeArchivedRows(rows), "bug");
}

TEST(CheckArchivedTest, AcceptsWhatTheRefNames) {
  EXPECT_THAT(CheckArchived(MakeEntries(), kStream, {.kind = Kind::kEntries, .first = {10}, .end = {12}}), IsOk());
  EXPECT_THAT(CheckArchived(MakeIndex(), kStream, {.kind = Kind::kIndex, .first = {0}, .end = {12}, .level = 1}),
              IsOk());
  EXPECT_THAT(CheckArchived(MakeRows(), kStream, {.kind = Kind::kRows}), IsOk());
}

TEST(CheckArchivedTest, RefusesEverythingElse) {
  const ArchiveRef entries{.kind = Kind::kEntries, .first = {10}, .end = {12}};
  EXPECT_THAT(CheckArchived(MakeEntries(), {}, entries), IsError(ErrorCode::kCorrupt, HasSubstr("another stream")));
  for (const ArchiveRef& other : std::vector<ArchiveRef>{{.kind = Kind::kIndex, .first = {10}, .end = {12}},
                                                         {.kind = Kind::kEntries, .first = {9}, .end = {12}},
                                                         {.kind = Kind::kEntries, .first = {10}, .end = {13}}}) {
    EXPECT_THAT(CheckArchived(MakeEntries(), kStream, other), IsError(ErrorCode::kCorrupt));
  }
  for (const ArchiveRef& other : std::vector<ArchiveRef>{{.kind = Kind::kIndex, .first = {1}, .end = {12}, .level = 1},
                                                         {.kind = Kind::kIndex, .first = {0}, .end = {12}, .level = 2},
                                                         {.kind = Kind::kRows}}) {
    EXPECT_THAT(CheckArchived(MakeIndex(), kStream, other), IsError(ErrorCode::kCorrupt));
  }
  EXPECT_THAT(CheckArchived(MakeRows(), kStream, entries), IsError(ErrorCode::kCorrupt));
}

}  // namespace
}  // namespace batchweave
