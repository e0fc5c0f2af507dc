#include "batchweave/format/part_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "batchweave/format/little_endian.h"
#include "batchweave/testing/damage.h"
#include "batchweave/testing/format_builders.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/seeded_random.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

PartTicket MakeTicket() {
  return {.identity = {.stream_id = {{.high = 1, .low = 2}}, .producer = "a", .incarnation = {7}, .seq = 12},
          .grid = {.dp = 4, .cp = 2},
          .content_type = "text/plain",
          .schema_hash = 5,
          .nonce = 6};
}

PartReceipt MakeReceipt() {
  PartReceipt receipt{.ticket = MakeTicket(),
                      .part = {.nonce = 9,
                               .range = {.dp_begin = 1, .dp_count = 3, .cp_begin = 1, .cp_count = 1},
                               .slice_bytes = {10, 0, 300},
                               .footer_bytes = 208,
                               .provenance_bytes = 20},
                      .trailers = {11, 22, 33}};
  FillObjectBytes(receipt.part);
  return receipt;
}

// A receipt of any part of any batch.
PartReceipt ArbitraryReceipt(Random& random, size_t size) {
  const TgbFooter footer = ArbitraryFooter(random, size);
  PartReceipt receipt{.ticket = {.identity = footer.identity,
                                 .grid = footer.grid,
                                 .content_type = footer.content_type,
                                 .schema_hash = footer.schema_hash,
                                 .nonce = random.Next()},
                      .part = {.nonce = random.Next(),
                               .range = footer.range,
                               .slice_bytes = footer.slice_bytes,
                               .footer_bytes = 208,
                               .provenance_bytes = footer.provenance_bytes}};
  FillObjectBytes(receipt.part);
  for (uint64_t i = 0; i < footer.range.slices(); ++i) receipt.trailers.push_back(random.Next());
  return receipt;
}

RC_GTEST_PROP(PartMessageProperty, WhatWasEncodedIsDecoded, (uint64_t seed)) {
  SeededRandom random(seed);
  const PartReceipt receipt = ArbitraryReceipt(random, *rc::gen::inRange<size_t>(0, 30));
  RC_ASSERT(*DecodePartTicket(EncodePartTicket(receipt.ticket)) == receipt.ticket);
  RC_ASSERT(*DecodePartReceipt(EncodePartReceipt(receipt)) == receipt);
}

TEST(PartMessageTest, EveryDamageIsCorrupt) {
  ExpectEveryDamageIsCorrupt(EncodePartTicket(MakeTicket()), DecodePartTicket);
  ExpectEveryDamageIsCorrupt(EncodePartReceipt(MakeReceipt()), DecodePartReceipt);
}

TEST(PartMessageTest, ATicketIsNoReceipt) {
  EXPECT_THAT(DecodePartReceipt(EncodePartTicket(MakeTicket())),
              IsError(ErrorCode::kCorrupt, HasSubstr("part ticket where a part receipt should be")));
  EXPECT_THAT(DecodePartTicket(EncodePartReceipt(MakeReceipt())), IsError(ErrorCode::kCorrupt));
}

TEST(PartMessageTest, NewerFormatIsIncompatible) {
  Bytes message = EncodePartTicket(MakeTicket());
  StoreLittleEndian(uint32_t{2}, message, 8);
  StoreLittleEndian(Hash64(ByteView(message).first(56)), message, 56);
  EXPECT_THAT(DecodePartTicket(message), IsError(ErrorCode::kIncompatible, HasSubstr("format=2 known=1")));
}

TEST(PartMessageTest, EachRuleOfATicketIsChecked) {
  const auto broken = [](auto change) {
    PartTicket ticket = MakeTicket();
    change(ticket);
    return CheckPartTicket(ticket);
  };
  EXPECT_THAT(broken([](PartTicket&) {}), IsOk());
  EXPECT_THAT(broken([](PartTicket& t) { t.identity.producer = "a/b"; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](PartTicket& t) { t.identity.incarnation = {}; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](PartTicket& t) { t.identity.seq = 0; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](PartTicket& t) { t.grid = {.dp = 0, .cp = 1}; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](PartTicket& t) { t.grid = {.dp = 65536, .cp = 65536}; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](PartTicket& t) { t.content_type = "\n"; }), IsError(ErrorCode::kCorrupt));
}

TEST(PartMessageTest, EachRuleOfAReceiptIsChecked) {
  const auto broken = [](auto change) {
    PartReceipt receipt = MakeReceipt();
    change(receipt);
    return CheckPartReceipt(receipt);
  };
  EXPECT_THAT(broken([](PartReceipt&) {}), IsOk());
  EXPECT_THAT(broken([](PartReceipt& r) { r.ticket.identity.seq = 0; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](PartReceipt& r) { r.part.range.dp_begin = 2; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](PartReceipt& r) { r.part.range.cp_count = 0; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](PartReceipt& r) { r.part.slice_bytes.clear(); }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](PartReceipt& r) { r.part.slice_bytes.pop_back(); }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](PartReceipt& r) { r.part.object_bytes += 1; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](PartReceipt& r) { r.part.footer_bytes = 1; }), IsError(ErrorCode::kCorrupt));
  EXPECT_THAT(broken([](PartReceipt& r) { r.trailers.pop_back(); }), IsError(ErrorCode::kCorrupt));
}

TEST(PartMessageDeathTest, RulesAreCheckedBeforeEncoding) {
  EXPECT_DEATH(EncodePartTicket({}), "bug");
  EXPECT_DEATH(EncodePartReceipt({}), "bug");
}

}  // namespace
}  // namespace batchweave
