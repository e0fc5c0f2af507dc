#include "batchweave/producer/join_parts.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "batchweave/producer/pack.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const PartTicket kTicket{
    .identity = {.stream_id = {{.high = 1, .low = 2}}, .producer = "tok-03", .incarnation = {7}, .seq = 12},
    .grid = {.dp = 4, .cp = 2},
    .content_type = "text/plain",
    .schema_hash = 5,
    .nonce = 99};

GridRange Rows(uint32_t begin, uint32_t count, uint32_t cp = 2) {
  return {.dp_begin = begin, .dp_count = count, .cp_begin = 0, .cp_count = cp};
}

// The slice at dp, cp of the whole grid is dp + 10 cp bytes long: all lengths differ.
GlobalBatch SlicesOf(const GridRange& range) {
  GlobalBatch slices({.dp = range.dp_count, .cp = range.cp_count});
  for (uint32_t cp = 0; cp < range.cp_count; ++cp) {
    for (uint32_t dp = 0; dp < range.dp_count; ++dp) {
      const uint32_t size_bytes = range.dp_begin + dp + 10 * (range.cp_begin + cp);
      EXPECT_THAT(slices.Set({.dp = dp, .cp = cp}, Bytes(size_bytes, std::byte(size_bytes))), IsOk());
    }
  }
  return slices;
}

PartReceipt ReceiptOf(const GridRange& range, uint64_t nonce, const PartTicket& ticket = kTicket) {
  const GlobalBatch slices = SlicesOf(range);
  PackedPart packed = PackPart(ticket, {.range = range, .slices = slices}, nonce);
  return {.ticket = ticket, .part = std::move(packed.part), .trailers = std::move(packed.trailers)};
}

std::vector<PartReceipt> Halves() { return {ReceiptOf(Rows(0, 2), 1), ReceiptOf(Rows(2, 2), 2)}; }

// Covers I10.
TEST(JoinPartsTest, DigestIsThatOfTheSameBatchInOneObject) {
  const Result<Entry> joined = JoinParts(kTicket, Halves(), {.cursor = ToBytes("c"), .samples = 3});
  ASSERT_THAT(joined, IsOk());
  EXPECT_THAT(CheckEntry(*joined), IsOk());
  const GlobalBatch whole = SlicesOf(WholeOf(kTicket.grid));
  EXPECT_EQ(joined->digest, PackBatch(kTicket.identity, whole, {}, 3).entry.digest);
  EXPECT_EQ(joined->cursor, ToBytes("c"));
  EXPECT_EQ(joined->samples, 3u);
  EXPECT_EQ(joined->content_type, "text/plain");
}

TEST(JoinPartsTest, OrderOfTheReceiptsDoesNotMatter) {
  std::vector<PartReceipt> receipts = Halves();
  const Entry entry = *JoinParts(kTicket, receipts, {});
  std::ranges::reverse(receipts);
  EXPECT_THAT(JoinParts(kTicket, receipts, {}), IsOkAndHolds(entry));
}

TEST(JoinPartsTest, LengthsThatAreTooLongForAnEntryAreLeftToTheFooters) {
  PartTicket ticket = kTicket;
  ticket.grid = {.dp = 4096, .cp = 1};
  const std::vector<PartReceipt> receipts = {ReceiptOf(Rows(0, 1, 1), 1, ticket),
                                             ReceiptOf(Rows(1, 4095, 1), 2, ticket)};
  const Result<Entry> joined = JoinParts(ticket, receipts, {});
  ASSERT_THAT(joined, IsOk());
  EXPECT_THAT(CheckEntry(*joined), IsOk());
  EXPECT_EQ(joined->parts[0].slice_bytes, std::vector<uint64_t>{0});
  EXPECT_TRUE(joined->parts[1].slice_bytes.empty());
}

// Covers M4.
TEST(JoinPartsTest, ReceiptOfAnythingElseIsRefusedAndBothAreNamed) {
  using Change = std::function<void(PartTicket&)>;
  for (const auto& [change, message] : std::vector<std::pair<Change, std::string>>{
           {[](PartTicket& t) { t.identity.stream_id.bits.low = 3; }, "another stream"},
           {[](PartTicket& t) { t.identity.producer = "b"; }, "another producer: found=b expected=tok-03"},
           {[](PartTicket& t) { t.identity.incarnation = {6}; }, "another incarnation: found=6 expected=7"},
           {[](PartTicket& t) { t.identity.seq = 13; }, "another batch: found=13 expected=12"},
           {[](PartTicket& t) { t.nonce = 98; }, "dropped: found=0000000000000062 expected=0000000000000063"},
           {[](PartTicket& t) { t.grid.dp = 5; }, "another grid: found=5x2 expected=4x2"},
           {[](PartTicket& t) { t.content_type = "b"; }, "another content type: found=b expected=text/plain"},
           {[](PartTicket& t) { t.schema_hash = 6; }, "another schema: found=6 expected=5"}}) {
    std::vector<PartReceipt> receipts = Halves();
    change(receipts[1].ticket);
    EXPECT_THAT(JoinParts(kTicket, receipts, {}), IsError(ErrorCode::kInvalidArgument, HasSubstr(message)));
  }
}

TEST(JoinPartsTest, LostReceiptIsToldByTheFirstSliceThatIsMissing) {
  std::vector<PartReceipt> receipts = Halves();
  receipts.pop_back();
  EXPECT_THAT(JoinParts(kTicket, receipts, {}), IsError(ErrorCode::kInvalidArgument, HasSubstr("dp=2 cp=0 grid=4x2")));
  EXPECT_THAT(JoinParts(kTicket, {}, {}), IsError(ErrorCode::kInvalidArgument, HasSubstr("dp=0 cp=0")));
}

// Covers M4.
TEST(JoinPartsTest, DoubledAndOverlappingReceiptsAreRefused) {
  std::vector<PartReceipt> receipts = Halves();
  receipts.push_back(receipts.front());
  EXPECT_THAT(JoinParts(kTicket, receipts, {}), IsError(ErrorCode::kInvalidArgument, HasSubstr("came twice")));
  receipts.back() = ReceiptOf(Rows(1, 1), 3);
  EXPECT_THAT(JoinParts(kTicket, receipts, {}),
              IsError(ErrorCode::kInvalidArgument,
                      AllOf(HasSubstr("dp=1 cp=0"), HasSubstr("0000000000000001 and 0000000000000003"))));
}

TEST(JoinPartsTest, ReceiptThatWasMadeUpIsRefused) {
  std::vector<PartReceipt> receipts = Halves();
  receipts[0].trailers.pop_back();
  EXPECT_THAT(JoinParts(kTicket, receipts, {}), IsError(ErrorCode::kInvalidArgument, HasSubstr("makes no sense")));
  receipts = std::vector<PartReceipt>(kPartsMax + 1, Halves().front());
  EXPECT_THAT(JoinParts(kTicket, receipts, {}), IsError(ErrorCode::kInvalidArgument, HasSubstr("parts=1025 max=1024")));
}

RC_GTEST_PROP(JoinPartsProperty, AnyTilingIsAValidEntryWithTheDigestOfTheWhole, ()) {
  std::vector<PartReceipt> receipts;
  for (uint32_t dp = 0; dp < kTicket.grid.dp;) {
    const auto count = *rc::gen::inRange<uint32_t>(1, kTicket.grid.dp - dp + 1);
    for (uint32_t cp = 0; cp < kTicket.grid.cp; ++cp) {
      receipts.push_back(
          ReceiptOf({.dp_begin = dp, .dp_count = count, .cp_begin = cp, .cp_count = 1}, receipts.size()));
    }
    dp += count;
  }
  const Result<Entry> joined = JoinParts(kTicket, receipts, {});
  RC_ASSERT(joined.ok());
  RC_ASSERT(CheckEntry(*joined).ok());
  RC_ASSERT(joined->digest == JoinParts(kTicket, Halves(), {})->digest);
}

}  // namespace
}  // namespace batchweave
