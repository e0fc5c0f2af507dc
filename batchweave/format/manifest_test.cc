#include "batchweave/format/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <utility>

#include "batchweave/format/archive.h"
#include "batchweave/format/little_endian.h"
#include "batchweave/format/manifest_blocks.h"
#include "batchweave/format/manifest_glimpse.h"
#include "batchweave/format/manifest_steps.h"
#include "batchweave/format/object_frame.h"
#include "batchweave/testing/damage.h"
#include "batchweave/testing/format_builders.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/seeded_random.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

constexpr size_t kVersionAt = 8;     // Of the format's version in the frame.
constexpr size_t kFrameHashAt = 56;  // Of the frame's checksum.

std::vector<Entry> MakeEntries(size_t count) {
  std::vector<Entry> entries;
  for (size_t i = 0; i < count; ++i) entries.push_back(MakeEntry("p", i + 1));
  return entries;
}

Bytes Encoded(const Manifest& manifest) { return EncodeManifest(manifest).bytes; }

// As EncodeManifest, but without its checks: what a broken writer could store.
Bytes EncodedUnchecked(const Manifest& manifest) {
  const Bytes rest = EncodeRestBlock(manifest);
  const Bytes head = EncodeHeadBlock(manifest, {.size_bytes = rest.size(), .hash = Hash64(rest)});
  return EncodeFramed(ObjectKind::kManifest, head, rest);
}

// `object` with another number in its frame, and the frame's checksum made to fit.
template <typename Number>
Bytes WithFrame(Bytes object, size_t offset, Number value) {
  StoreLittleEndian(value, object, offset);
  StoreLittleEndian(Hash64(ByteView(object).first(kFrameHashAt)), object, kFrameHashAt);
  return object;
}

RC_GTEST_PROP(ManifestProperty, WhatWasEncodedIsDecoded, (uint64_t seed)) {
  SeededRandom random(seed);
  const Manifest manifest = ArbitraryManifest(random, *rc::gen::inRange<size_t>(0, 40));
  const EncodedManifest encoded = EncodeManifest(manifest);
  const Result<Manifest> decoded = DecodeManifest(encoded.bytes);
  RC_ASSERT(decoded.ok());
  RC_ASSERT(*decoded == manifest);
  RC_ASSERT(EncodeManifest(*decoded).bytes == encoded.bytes);
  RC_ASSERT(*ManifestHash(encoded.bytes) == encoded.hash);
}

RC_GTEST_PROP(ManifestProperty, HeadHoldsTheNewestAndLeadsToTheRest, (uint64_t seed)) {
  SeededRandom random(seed);
  const Manifest manifest = ArbitraryManifest(random, *rc::gen::inRange<size_t>(0, 40));
  const EncodedManifest encoded = EncodeManifest(manifest);
  const ByteView prefix = ByteView(encoded.bytes).first(*HeadBytesNeeded(encoded.bytes));
  const ManifestHead head = *DecodeManifestHead(prefix);
  RC_ASSERT(head.hash == encoded.hash);
  RC_ASSERT(head.rest_offset == prefix.size());
  RC_ASSERT(head.manifest.groups == manifest.groups);
  RC_ASSERT(head.manifest.tail.empty() == manifest.tail.empty());
  RC_ASSERT(std::ranges::equal(head.manifest.tail, std::span(manifest.tail).last(head.manifest.tail.size())));
  RC_ASSERT(*DecodeManifestRest(head, ByteView(encoded.bytes).subspan(head.rest_offset)) == manifest);
}

// What is glimpsed is what is decoded, of any version and any producers.
RC_GTEST_PROP(ManifestProperty, AGlimpseIsAPartOfTheWhole, (uint64_t seed)) {
  SeededRandom random(seed);
  const Manifest whole = ArbitraryManifest(random, *rc::gen::inRange<size_t>(0, 20));
  std::vector<std::string> asked = {"nobody"};
  Manifest expected = whole;
  std::erase_if(expected.rows, [&](const ProducerRow& row) {
    if (random.Next() % 2 == 0) return true;
    asked.push_back(row.producer);
    return false;
  });
  expected.tail.clear();
  expected.groups.clear();
  expected.archives.clear();
  expected.checkpoints.clear();
  expected.quarantines.clear();
  const ManifestGlimpse glimpse = *GlimpseManifest(EncodeManifest(whole).bytes, asked);
  RC_ASSERT(glimpse.manifest == expected);
  RC_ASSERT(glimpse.recent == RecentProducers(whole));
}

// What a reader takes is what is decoded, of any version and any steps, those included that it does not have.
RC_GTEST_PROP(ManifestProperty, StepsAreAPartOfTheWhole, (uint64_t seed)) {
  SeededRandom random(seed);
  const Manifest whole = ArbitraryManifest(random, *rc::gen::inRange<size_t>(0, 40));
  const uint64_t tail_first = whole.tail_first().value;
  const uint64_t next_step = whole.next_step.value;
  const uint64_t first = *rc::gen::inRange<uint64_t>(tail_first - std::min<uint64_t>(tail_first, 3), next_step + 3);
  const auto count = *rc::gen::inRange<size_t>(0, 50);
  std::vector<Entry> expected;
  for (uint64_t step = std::max(first, tail_first); step < std::min(first + count, next_step); ++step) {
    expected.push_back(whole.tail[step - tail_first]);
  }
  const EncodedManifest encoded = EncodeManifest(whole);
  const ManifestSteps steps = *DecodeManifestSteps(encoded.bytes, {first}, count);
  RC_ASSERT(steps.entries == expected);
  RC_ASSERT(steps.first == Step{std::max(first, tail_first)});
  RC_ASSERT(steps.hash == encoded.hash);
  RC_ASSERT(steps.manifest.archives == whole.archives);
  const std::vector<Entry>& newest = steps.manifest.tail;
  RC_ASSERT(newest.empty() == whole.tail.empty());
  RC_ASSERT(std::equal(newest.rbegin(), newest.rend(), whole.tail.rbegin()));
  Manifest head = steps.manifest;
  head.tail.clear();
  head.archives.clear();
  head.archived_rows.reset();  // It comes with them.
  Manifest of_head = DecodeManifestHead(encoded.bytes)->manifest;
  of_head.tail.clear();
  RC_ASSERT(head == of_head);
  const ManifestSteps all = StepsOf(whole, encoded.hash);
  RC_ASSERT(all.entries == whole.tail);
  RC_ASSERT(all.first == whole.tail_first());
}

TEST(ManifestTest, DamageIsSeenInAPartToo) {
  const Bytes object = Encoded(MakeManifest({MakeEntry("a", 1), MakeEntry("a", 2)}));
  ExpectEveryDamageIsCorrupt(object, [](ByteView damaged) { return GlimpseManifest(damaged, {}); });
  ExpectEveryDamageIsCorrupt(object, [](ByteView damaged) { return DecodeManifestSteps(damaged, {}, 0); });
}

// What a broken writer could store must not send a reader to steps that are not where it looks.
TEST(ManifestTest, StepsThatDoNotJoinAreCorruptInAPartToo) {
  Manifest manifest = MakeManifest({MakeEntry("a", 1), MakeEntry("a", 2)});
  manifest.archives = {
      {.kind = ArchiveRef::Kind::kEntries, .version = {1}, .first = {0}, .end = manifest.tail_first()}};
  ++manifest.archives.back().end.value;
  EXPECT_THAT(DecodeManifestSteps(EncodedUnchecked(manifest), {}, 10), IsError(ErrorCode::kCorrupt));
  manifest.archives.clear();
  manifest.next_step = {1};
  EXPECT_THAT(DecodeManifestSteps(EncodedUnchecked(manifest), {}, 10), IsError(ErrorCode::kCorrupt));
}

TEST(ManifestTest, HeadOfALongTailFitsOneRead) {
  const Bytes object = Encoded(MakeManifest(MakeEntries(1000)));
  EXPECT_THAT(HeadBytesNeeded(object), IsOkAndHolds(::testing::Le(kHeadReadBytes)));
  EXPECT_GE(DecodeManifestHead(object)->manifest.tail.size(), 50u);
}

TEST(ManifestTest, HeadHoldsOneEntryHoweverLarge) {
  Manifest manifest = MakeManifest(MakeEntries(2));
  Entry& newest = manifest.tail.back();
  newest.grid = {.dp = kPartsMax, .cp = 1};
  newest.parts.clear();
  for (uint32_t dp = 0; dp < kPartsMax; ++dp) {
    newest.parts.push_back(WholePart({.dp = 1, .cp = 1}, dp));
    newest.parts.back().range.dp_begin = dp;
  }
  const Bytes object = Encoded(manifest);
  EXPECT_EQ(DecodeManifestHead(object)->manifest.tail.size(), 1u);
  EXPECT_THAT(DecodeManifest(object), IsOkAndHolds(manifest));
}

TEST(ManifestTest, UniformEntryTakesAbout100Bytes) {
  std::vector<Entry> entries = MakeEntries(1000);
  for (Entry& entry : entries) entry.cursor.resize(16);
  const size_t more_bytes = Encoded(MakeManifest(entries)).size() - Encoded(MakeManifest(MakeEntries(1))).size();
  EXPECT_LE(more_bytes / 999, 136u);
}

TEST(ManifestTest, IsReadWhereverItLiesInMemory) {
  const Manifest manifest = MakeManifest(MakeEntries(100));
  const Bytes object = Encoded(manifest);
  for (size_t shift = 1; shift < 8; ++shift) {
    Bytes shifted(shift);
    shifted.insert(shifted.end(), object.begin(), object.end());
    EXPECT_THAT(DecodeManifest(ByteView(shifted).subspan(shift)), IsOkAndHolds(manifest));
  }
}

TEST(ManifestTest, CutShortAtAnyByteIsCorrupt) {
  const Bytes object = Encoded(MakeManifest(MakeEntries(2)));
  const uint64_t head_bytes = *HeadBytesNeeded(object);
  for (size_t size = 0; size < object.size(); ++size) {
    const ByteView prefix = ByteView(object).first(size);
    EXPECT_THAT(DecodeManifest(prefix), IsError(ErrorCode::kCorrupt)) << size;
    EXPECT_EQ(DecodeManifestHead(prefix).ok(), size >= head_bytes) << size;
    EXPECT_EQ(HeadBytesNeeded(prefix).ok(), size >= kManifestPreludeBytes) << size;
  }
}

TEST(ManifestTest, BytesAfterItAreCorrupt) {
  Bytes object = Encoded(MakeManifest());
  object.push_back({});
  EXPECT_THAT(DecodeManifest(object), IsError(ErrorCode::kCorrupt, HasSubstr("wrong length")));
}

TEST(ManifestTest, AnyBitFlippedIsCorrupt) {
  Bytes object = Encoded(MakeManifest(MakeEntries(2)));
  for (size_t bit = 0; bit < object.size() * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1 << (bit % 8));
    object[bit / 8] ^= mask;
    EXPECT_THAT(DecodeManifest(object), IsError(ErrorCode::kCorrupt)) << bit;
    object[bit / 8] ^= mask;
  }
}

TEST(ManifestTest, RestOfAnotherVersionIsCorrupt) {
  const ManifestHead head = *DecodeManifestHead(Encoded(MakeManifest(MakeEntries(100))));
  Manifest other = MakeManifest(MakeEntries(100));
  other.tail.front().samples = 5;
  const Bytes object = Encoded(other);
  EXPECT_THAT(DecodeManifestRest(head, ByteView(object).subspan(head.rest_offset)),
              IsError(ErrorCode::kCorrupt, HasSubstr("checksum mismatch in the rest")));
  EXPECT_THAT(DecodeManifestRest(head, {}), IsError(ErrorCode::kCorrupt, HasSubstr("wrong length")));
}

TEST(ManifestTest, ABinaryFromTheFutureIsIncompatible) {
  const Bytes object = WithFrame(Encoded(MakeManifest()), kVersionAt, uint32_t{2});
  EXPECT_THAT(DecodeManifest(object), IsError(ErrorCode::kIncompatible, HasSubstr("format=2 known=1")));
  EXPECT_THAT(DecodeManifestHead(object), IsError(ErrorCode::kIncompatible));
  EXPECT_THAT(HeadBytesNeeded(object), IsError(ErrorCode::kIncompatible));
}

TEST(ManifestTest, UnknownReaderFeatureIsIncompatibleByName) {
  Manifest manifest = MakeManifest();
  manifest.reader_features = uint64_t{1} << 63;
  EXPECT_THAT(DecodeManifest(Encoded(manifest)),
              IsError(ErrorCode::kIncompatible, HasSubstr("unknown_reader_features=0x8000000000000000")));
}

TEST(ManifestTest, UnknownWriterFeatureIsStillRead) {
  Manifest manifest = MakeManifest();
  manifest.writer_features = uint64_t{1} << 63;
  EXPECT_THAT(DecodeManifest(Encoded(manifest)), IsOkAndHolds(manifest));
}

TEST(ManifestTest, ATombstoneInItsPlaceIsTrimmed) {
  const Bytes object = EncodeTombstone({.version = {7}});
  EXPECT_THAT(DecodeManifest(object), IsError(ErrorCode::kTrimmed));
  EXPECT_THAT(DecodeManifestHead(object), IsError(ErrorCode::kTrimmed));
  EXPECT_THAT(HeadBytesNeeded(object), IsError(ErrorCode::kTrimmed));
  EXPECT_THAT(ManifestHash(object), IsError(ErrorCode::kTrimmed));
}

TEST(ManifestTest, AnotherObjectInItsPlaceIsCorrupt) {
  EXPECT_THAT(DecodeManifest(Bytes(1000)), IsError(ErrorCode::kCorrupt, HasSubstr("no magic")));
  EXPECT_THAT(DecodeManifest(EncodeArchivedRows({})), IsError(ErrorCode::kCorrupt, HasSubstr("archived rows where")));
}

TEST(ManifestTest, HostileLengthsInTheFrameAllocateNothing) {
  const Bytes object = Encoded(MakeManifest());
  for (const uint64_t length : {uint64_t{0}, uint64_t{8}, uint64_t{1} << 40, UINT64_MAX, UINT64_MAX - 64}) {
    EXPECT_THAT(DecodeManifest(WithFrame(object, 16, length)), IsError(ErrorCode::kCorrupt));
    EXPECT_THAT(DecodeManifest(WithFrame(object, 24, length)), IsError(ErrorCode::kCorrupt));
    EXPECT_THAT(DecodeManifestHead(WithFrame(object, 16, length)), IsError(ErrorCode::kCorrupt));
  }
}

TEST(ManifestTest, BlocksWithGoodChecksumsAndNoSenseAreCorrupt) {
  const Bytes noise(128, std::byte{0x41});
  EXPECT_THAT(DecodeManifest(EncodeFramed(ObjectKind::kManifest, noise, noise)),
              IsError(ErrorCode::kCorrupt, HasSubstr("head of the manifest is malformed")));
  const Bytes head = EncodeHeadBlock(MakeManifest(), {.size_bytes = noise.size(), .hash = Hash64(noise)});
  EXPECT_THAT(DecodeManifest(EncodeFramed(ObjectKind::kManifest, head, noise)),
              IsError(ErrorCode::kCorrupt, HasSubstr("rest of the manifest is malformed")));
}

TEST(ManifestTest, RulesAreCheckedAfterDecoding) {
  Manifest in_head = MakeManifest(MakeEntries(1));
  in_head.first_step = {2};
  EXPECT_THAT(DecodeManifest(EncodedUnchecked(in_head)), IsError(ErrorCode::kCorrupt, HasSubstr("first step")));
  EXPECT_THAT(DecodeManifestHead(EncodedUnchecked(in_head)), IsError(ErrorCode::kCorrupt, HasSubstr("first step")));
  Manifest in_entry = MakeManifest(MakeEntries(1));
  in_entry.tail.front().seq = 0;
  EXPECT_THAT(DecodeManifest(EncodedUnchecked(in_entry)), IsError(ErrorCode::kCorrupt, HasSubstr("seq")));
  Manifest in_rest = MakeManifest(MakeEntries(1));
  in_rest.rows.front().step = Step{7};
  EXPECT_THAT(DecodeManifest(EncodedUnchecked(in_rest)), IsError(ErrorCode::kCorrupt, HasSubstr("row of a step")));
}

TEST(ManifestDeathTest, RulesAreCheckedBeforeEncoding) {
  Manifest manifest = MakeManifest(MakeEntries(1));
  manifest.version = {0};
  EXPECT_DEATH(EncodeManifest(manifest), "manifest has no version");
  manifest = MakeManifest(MakeEntries(1));
  manifest.tail.front().cursor.resize(kCursorBytesMax + 1);
  EXPECT_DEATH(EncodeManifest(manifest), "cursor is too long");
}

TEST(ManifestTest, VersionZeroIsEmpty) {
  const Manifest empty = EmptyManifest({{.high = 1, .low = 2}}, {.high = 3, .low = 4});
  EXPECT_EQ(empty.version, Version{0});
  EXPECT_EQ(empty.next_step, Step{0});
  EXPECT_EQ(empty.stream_id, (StreamId{{.high = 1, .low = 2}}));
}

}  // namespace
}  // namespace batchweave
