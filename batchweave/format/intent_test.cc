#include "batchweave/format/intent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "batchweave/testing/damage.h"
#include "batchweave/testing/format_builders.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/seeded_random.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

BatchIntent MakeIntent(uint64_t batches = 2) {
  BatchIntent intent{
      .stream_id = {{.high = 1, .low = 2}}, .producer = "a", .incarnation = {7}, .last_seq = 11 + batches};
  for (uint64_t i = 0; i < batches; ++i) intent.entries.push_back(MakeEntry("a", 12 + i, {7}));
  return intent;
}

OpeningIntent MakeOpening() {
  return {.stream_id = {{.high = 1, .low = 2}}, .producer = "a", .base = {6}, .nonce = 9, .reopen = true};
}

RC_GTEST_PROP(IntentProperty, WhatWasEncodedIsDecoded, (uint64_t seed)) {
  SeededRandom random(seed);
  BatchIntent intent = MakeIntent(0);
  intent.finish = true;
  for (uint64_t i = random.Next() % 5; i > 0; --i) {
    Entry entry = ArbitraryEntry(random, *rc::gen::inRange<size_t>(0, 20));
    entry.producer = intent.producer;
    entry.incarnation = intent.incarnation;
    entry.seq = ++intent.last_seq;
    intent.entries.push_back(std::move(entry));
  }
  intent.writer_features = random.Next();
  RC_ASSERT(*DecodeBatchIntent(EncodeIntent(intent)) == intent);
}

TEST(IntentTest, EveryDamageIsCorrupt) {
  ExpectEveryDamageIsCorrupt(EncodeIntent(MakeIntent()), DecodeBatchIntent);
  ExpectEveryDamageIsCorrupt(EncodeIntent(MakeOpening()), DecodeOpeningIntent);
}

TEST(IntentTest, BatchesAreNoOpening) {
  EXPECT_THAT(DecodeOpeningIntent(EncodeIntent(MakeIntent())),
              IsError(ErrorCode::kCorrupt, HasSubstr("batch intent where a producer's opening should be")));
  EXPECT_THAT(DecodeBatchIntent(EncodeIntent(MakeOpening())), IsError(ErrorCode::kCorrupt));
}

TEST(IntentTest, AMarkCountsAsOneMoreBatchInTheKey) {
  BatchIntent intent = MakeIntent();
  EXPECT_EQ(intent.key_seq(), 13u);
  intent.finish = true;
  EXPECT_EQ(intent.key_seq(), 14u);
}

TEST(IntentTest, EachRuleIsChecked) {
  const auto broken = [](auto change) {
    BatchIntent intent = MakeIntent();
    change(intent);
    return CheckIntent(intent);
  };
  EXPECT_THAT(broken([](BatchIntent&) {}), IsOk());
  EXPECT_THAT(broken([](BatchIntent& i) { i.producer = "a/b"; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](BatchIntent& i) { i.incarnation = {}; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](BatchIntent& i) { i.entries.clear(); }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](BatchIntent& i) { i.last_seq = 14; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](BatchIntent& i) { i.last_seq = 1; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](BatchIntent& i) { i.last_seq = UINT64_MAX; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](BatchIntent& i) { i.entries[0].producer = "b"; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](BatchIntent& i) { i.entries[1].incarnation = {8}; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](BatchIntent& i) { i.entries[1].seq = 14; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](BatchIntent& i) { i.entries[0].grid = {}; }), IsError(ErrorCode::kCorrupt));
}

TEST(IntentDeathTest, RulesAreCheckedBeforeEncoding) {
  EXPECT_DEATH(EncodeIntent(BatchIntent()), "bug");
  EXPECT_DEATH(EncodeIntent(OpeningIntent()), "bug");
}

}  // namespace
}  // namespace batchweave
