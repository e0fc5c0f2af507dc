#include "batchweave/producer/write_part.h"

#include <gtest/gtest.h>

#include "batchweave/store/memory_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/test_env.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

const StreamKeys kKeys{.name = "run", .stream_id = {.bits = {.high = 1, .low = 2}}};
const PartTicket kTicket{
    .identity = {.stream_id = kKeys.stream_id, .producer = "tok-03", .incarnation = {7}, .seq = 12},
    .grid = {.dp = 4, .cp = 2},
    .content_type = "text/plain",
    .nonce = 99};
constexpr GridRange kRange{.dp_begin = 1, .dp_count = 2, .cp_begin = 1, .cp_count = 1};

class WritePartTest : public ::testing::Test {
 protected:
  WritePartTest() {
    EXPECT_THAT(slices_.SetCopy({.dp = 0, .cp = 0}, AsBytes("left")), IsOk());
    EXPECT_THAT(slices_.SetCopy({.dp = 1, .cp = 0}, AsBytes("right")), IsOk());
  }
  Result<PartReceipt> Write(ObjectStore& store, const PartTicket& ticket = kTicket, GridRange range = kRange) {
    return WritePart(env_.Over(store), kKeys, ticket, {.range = range, .slices = slices_});
  }
  std::string KeyOf(const PartReceipt& receipt) { return kKeys.Data("tok-03", {7}, 12, receipt.part.nonce); }
  size_t Objects() { return memory_.List("", "", 100)->objects.size(); }

  MemoryStore memory_;
  TestEnv env_;
  GlobalBatch slices_{{.dp = 2, .cp = 1}};
};

// Covers M4.
TEST_F(WritePartTest, EachCallWritesAnObjectOfItsOwn) {
  const Result<PartReceipt> first = Write(memory_);
  const Result<PartReceipt> again = Write(memory_);
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(again, IsOk());
  EXPECT_NE(first->part.nonce, again->part.nonce);
  for (const PartReceipt& receipt : {*first, *again}) {
    EXPECT_THAT(CheckPartReceipt(receipt), IsOk());
    EXPECT_EQ(receipt.ticket, kTicket);
    EXPECT_THAT(memory_.Stat(KeyOf(receipt)), IsOkAndHolds(receipt.part.object_bytes));
  }
}

TEST_F(WritePartTest, ContentTypeIsTheTickets) {
  const Result<PartReceipt> receipt = Write(memory_);
  const Result<TgbFooter> footer = DecodeTgbFooter(*memory_.Read(KeyOf(*receipt)));
  ASSERT_THAT(footer, IsOk());
  EXPECT_EQ(footer->content_type, "text/plain");
  EXPECT_EQ(footer->range, kRange);
  EXPECT_EQ(footer->grid, kTicket.grid);
}

TEST_F(WritePartTest, WhatDoesNotFitTheTicketIsRefusedAndWritesNothing) {
  PartTicket ticket = kTicket;
  ticket.identity.stream_id.bits.low = 3;
  EXPECT_THAT(Write(memory_, ticket), IsError(ErrorCode::kInvalidArgument, HasSubstr("of another stream")));
  EXPECT_THAT(Write(memory_, {}), IsError(ErrorCode::kInvalidArgument, HasSubstr("ticket has no valid producer")));
  GridRange range = kRange;
  range.dp_begin = 3;
  EXPECT_THAT(Write(memory_, kTicket, range),
              IsError(ErrorCode::kInvalidArgument, HasSubstr("dp=3+2 cp=1+1 grid=4x2")));
  range = {.dp_begin = 0, .dp_count = 1, .cp_begin = 0, .cp_count = 2};
  EXPECT_THAT(Write(memory_, kTicket, range),
              IsError(ErrorCode::kInvalidArgument, HasSubstr("found=2x1 expected=1x2")));
  EXPECT_EQ(Objects(), 0u);
}

TEST_F(WritePartTest, MissingSliceAndProvenanceThatIsTooLongAreRefused) {
  const GlobalBatch empty({.dp = 2, .cp = 1});
  EXPECT_THAT(WritePart(env_.Over(memory_), kKeys, kTicket, {.range = kRange, .slices = empty}),
              IsError(ErrorCode::kInvalidArgument, HasSubstr("a slice is missing: dp=0 cp=0")));
  const Bytes provenance(kProvenanceBytesMax + 1);
  EXPECT_THAT(
      WritePart(env_.Over(memory_), kKeys, kTicket, {.range = kRange, .slices = slices_, .provenance = provenance}),
      IsError(ErrorCode::kInvalidArgument, HasSubstr("bytes=1048577 max=1048576")));
  EXPECT_EQ(Objects(), 0u);
}

TEST_F(WritePartTest, ProvenanceLiesInTheObject) {
  const Bytes provenance = ToBytes("rows 8 to 11");
  const Result<PartReceipt> receipt =
      WritePart(env_.Over(memory_), kKeys, kTicket, {.range = kRange, .slices = slices_, .provenance = provenance});
  ASSERT_THAT(receipt, IsOk());
  EXPECT_EQ(receipt->part.provenance_bytes, provenance.size());
  const Bytes object = *memory_.Read(KeyOf(*receipt));
  const ByteView before_footer = ByteView(object).first(object.size() - receipt->part.footer_bytes);
  EXPECT_EQ(AsText(before_footer.last(provenance.size())), "rows 8 to 11");
}

// Covers I12.
TEST_F(WritePartTest, StoreThatNeverAnswersEndsTheCallAndALaterOneWritesAnotherKey) {
  for (const ErrorCode code : {ErrorCode::kUnavailable, ErrorCode::kUnknownOutcome, ErrorCode::kDenied}) {
    FaultyStore store(memory_, {.fail_call = 1, .calls = Fault::kAllCalls, .when = FaultWhen::kBefore, .code = code});
    EXPECT_THAT(Write(store), IsError(code));
    EXPECT_LE(store.calls(), 20u);
  }
  EXPECT_EQ(Objects(), 0u);
  EXPECT_THAT(Write(memory_), IsOk());
}

// Covers M4, I4.
TEST_F(WritePartTest, ReceiptIsGivenOnlyForWhatIsThere) {
  ForEachFailure([&](const Fault& fault) {
    FaultyStore store(memory_, fault);
    Result<PartReceipt> receipt = Write(store);
    if (!receipt.ok()) receipt = Write(store);
    EXPECT_THAT(receipt, IsOk());
    EXPECT_THAT(memory_.Stat(KeyOf(*receipt)), IsOkAndHolds(receipt->part.object_bytes));
    return store.fired();
  });
}

}  // namespace
}  // namespace batchweave
