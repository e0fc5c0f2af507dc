#include "batchweave/format/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "batchweave/testing/format_builders.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/seeded_random.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;
using Kind = ParsedKey::Kind;

const StreamKeys kKeys{.name = "run", .stream_id = {{.high = 0xabcdef, .low = 1}}};
constexpr std::string_view kPrefix = "run/0000000000abcdef0000000000000001/";

std::string Key(std::string_view rest) { return std::string(kPrefix) + std::string(rest); }

TEST(KeysTest, NamesAreLettersDigitsAndThreeMarks) {
  for (const std::string_view good : {"a", "7", "llm-7b", "tok_03.v2", "A..b"})
    EXPECT_THAT(CheckName("x", good), IsOk());
  EXPECT_THAT(CheckName("x", std::string(100, 'a')), IsOk());
  for (const std::string_view bad : {"", ".", "..", "-a", "_", "a/b", "a b", "\xc3\xa9", "a\n", "../a"}) {
    EXPECT_THAT(CheckName("producer", bad), IsError(ErrorCode::kInvalidArgument, HasSubstr("producer must be")));
  }
  EXPECT_THAT(CheckName("x", std::string(101, 'a')), IsError(ErrorCode::kInvalidArgument, HasSubstr("...")));
}

TEST(KeysTest, MessageOfABadNameIsPrintable) {
  EXPECT_THAT(CheckName("group", "a\x1b[2J"), IsError(ErrorCode::kInvalidArgument, HasSubstr("name=\"a?[2J\"")));
}

TEST(KeysTest, NewerManifestsSortFirstAndThePlaceholderLast) {
  EXPECT_EQ(kKeys.Manifest({1}), Key("manifest/18446744073709551614"));
  EXPECT_LT(kKeys.Manifest({10}), kKeys.Manifest({9}));
  EXPECT_LT(kKeys.Manifest({UINT64_MAX}), kKeys.Manifest({1}));
  EXPECT_LT(kKeys.Manifest({1}), kKeys.ManifestPrefix() + "_");
}

TEST(KeysTest, OldestBatchesOfAProducerSortFirst) {
  EXPECT_LT(kKeys.Data("p", {2}, 9, 5), kKeys.Data("p", {2}, 10, 4));
  EXPECT_LT(kKeys.Data("p", {9}, 20, 5), kKeys.Data("p", {10}, 10, 4));
}

// Covers M4.
TEST(KeysTest, EachPackingOfABatchHasItsOwnKey) {
  EXPECT_NE(kKeys.Data("p", {1}, 1, 0xa), kKeys.Data("p", {1}, 1, 0xb));
}

// Covers M6.
TEST(KeysTest, AnotherLifeOfANameSharesNoKey) {
  const StreamKeys second_life{.name = "run", .stream_id = {{.high = 0xabcdef, .low = 2}}};
  EXPECT_NE(kKeys.Manifest({1}), second_life.Manifest({1}));
  EXPECT_EQ(ParseKey(second_life, kKeys.Manifest({1})), std::nullopt);
}

RC_GTEST_PROP(KeysProperty, EveryKeySaysWhatItIs, (uint64_t seed)) {
  SeededRandom random(seed);
  const std::string name = ArbitraryName(random);
  const uint64_t seq = random.Next();
  const uint64_t nonce = random.Next();
  const Incarnation incarnation{random.Next()};
  const Version version{random.Next() | 1};
  const StreamKeys keys{.name = ArbitraryName(random), .stream_id = {{.high = random.Next(), .low = random.Next()}}};

  const ParsedKey batch{.kind = Kind::kData, .name = name, .incarnation = incarnation, .seq = seq, .nonce = nonce};
  RC_ASSERT(ParseKey(keys, keys.Data(name, incarnation, seq, nonce)) == batch);
  ParsedKey intent = batch;
  intent.kind = Kind::kIntent;
  RC_ASSERT(ParseKey(keys, keys.Intent(name, incarnation, seq, nonce)) == intent);
  const ParsedKey opening{.kind = Kind::kOpening, .version = version, .name = name, .nonce = nonce};
  RC_ASSERT(ParseKey(keys, keys.Opening(name, version, nonce)) == opening);
  const ParsedKey manifest{.kind = Kind::kManifest, .version = version};
  RC_ASSERT(ParseKey(keys, keys.Manifest(version)) == manifest);
  const ParsedKey progress{.kind = Kind::kProgress, .name = name};
  RC_ASSERT(ParseKey(keys, keys.Progress(name)) == progress);
  for (const auto kind : {ArchiveRef::Kind::kEntries, ArchiveRef::Kind::kIndex, ArchiveRef::Kind::kRows}) {
    const ParsedKey archived{.kind = Kind::kArchive, .version = version, .archive = kind, .nonce = nonce};
    RC_ASSERT(ParseKey(keys, keys.Archive({.kind = kind, .version = version, .nonce = nonce})) == archived);
  }
}

TEST(KeysTest, PlaceholdersAreKnown) {
  for (const std::string& prefix : {kKeys.ManifestPrefix(), kKeys.ArchivePrefix(), kKeys.IntentPrefix()}) {
    EXPECT_EQ(ParseKey(kKeys, prefix + "_"), ParsedKey{.kind = Kind::kPlaceholder});
  }
  EXPECT_EQ(ParseKey(kKeys, kKeys.DataPrefix() + "_"), std::nullopt);
}

TEST(KeysTest, WhatThisSoftwareDoesNotWriteIsNotUnderstood) {
  const std::string data = kKeys.Data("p", {1}, 2, 3);
  for (const std::string& foreign :
       std::vector<std::string>{"",
                                "run",
                                "run/stream.json",
                                "other" + data,
                                data + "0",
                                data + "/x",
                                data.substr(0, data.size() - 1),
                                Key(""),
                                Key("manifest"),
                                Key("manifest/"),
                                Key("manifest/1"),
                                Key("manifest/18446744073709551615"),
                                Key("manifest/18446744073709551616"),
                                Key("manifest/99999999999999999999"),
                                Key("manifest/1844674407370955161x"),
                                Key("manifest/+8446744073709551614"),
                                Key("archive/00000000000000000001-other-0000000000000001"),
                                Key("archive/00000000000000000001-rows-000000000000000A"),
                                Key("archive/00000000000000000001-rows-00000000000000001"),
                                Key("archive/00000000000000000001-rows"),
                                Key("data/p/1-2-0000000000000003"),
                                Key("data/p/"),
                                Key("data/-p/00000000000000000001-00000000000000000002-0000000000000003"),
                                Key("intent/p/open-1-0000000000000003"),
                                Key("intent/p/open-00000000000000000001"),
                                Key("progress/"),
                                Key("progress/a/b"),
                                Key("progress/.a"),
                                Key("unknown/a")}) {
    EXPECT_EQ(ParseKey(kKeys, foreign), std::nullopt) << foreign;
  }
}

TEST(KeysTest, ComponentsStayUnderTheLimitOfStores) {
  constexpr size_t kComponentBytesMax = 200;
  const std::string longest(100, 'n');
  const StreamKeys keys{.name = longest, .stream_id = {}};
  for (const std::string& key : {keys.Data(longest, {UINT64_MAX}, UINT64_MAX, UINT64_MAX), keys.Progress(longest),
                                 keys.Opening(longest, {UINT64_MAX}, UINT64_MAX)}) {
    for (size_t begin = 0, end = 0; begin < key.size(); begin = end + 1) {
      end = std::min(key.find('/', begin), key.size());
      EXPECT_LE(end - begin, kComponentBytesMax) << key;
    }
  }
}

TEST(KeysTest, DataAndArchivedObjectsNeverChange) {
  EXPECT_TRUE(NeverChanges(kKeys.Data("p", {1}, 2, 3)));
  EXPECT_TRUE(NeverChanges(Key("archive/00000000000000000001-entries-0000000000000001")));
  for (const std::string& key :
       {kKeys.Manifest(Version{1}), kKeys.Progress("g"), Key("archive/_"), Key("data/p/1"), StreamJsonKey("run"),
        ProbePrefix("run", 1) + "object", std::string("data/p"),
        std::string("run/0/data/p/00000000000000000001-00000000000000000002-0000000000000003")}) {
    EXPECT_FALSE(NeverChanges(key)) << key;
  }
}

TEST(KeysTest, StreamJsonAndProbesLieBesideTheStream) {
  EXPECT_EQ(StreamJsonKey("run"), "run/stream.json");
  EXPECT_EQ(ProbePrefix("run", 255), "run/probe/00000000000000ff/");
}

}  // namespace
}  // namespace batchweave
