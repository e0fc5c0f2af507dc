#include "examples/demo/process/part_order.h"

#include <gtest/gtest.h>

#include "batchweave/testing/matchers.h"

namespace batchweave::demo {
namespace {

PartTicket SomeTicket() {
  return {.identity = {.producer = "tokenizer-0", .incarnation = {3}, .seq = 20},
          .grid = {.dp = 4, .cp = 2},
          .content_type = "text/plain",
          .nonce = 99};
}

TEST(PartOrderTest, ComesBackAsItWas) {
  const PartOrder order{
      .ticket = SomeTicket(), .range = {.dp_begin = 2, .dp_count = 2, .cp_count = 2}, .cursor = "7+0"};
  const Result<PartOrder> parsed = ParsePartOrder(ToLine(order));
  ASSERT_THAT(parsed, IsOk());
  EXPECT_EQ(parsed->ticket, order.ticket);
  EXPECT_EQ(parsed->range, order.range);
  EXPECT_EQ(parsed->cursor, order.cursor);
}

TEST(PartOrderTest, AnythingElseIsCorrupt) {
  for (const char* line : {"", "nonsense", "{}", "[]", R"({"ticket":"zz","cursor":""})",
                           R"({"ticket":7,"cursor":"","dp_begin":0,"dp_count":1,"cp_begin":0,"cp_count":1})",
                           R"({"ticket":"zz","cursor":"","dp_begin":0,"dp_count":1,"cp_begin":0,"cp_count":1})",
                           R"({"ticket":"00","cursor":"","dp_begin":0,"dp_count":1,"cp_begin":0,"cp_count":1})"}) {
    EXPECT_THAT(ParsePartOrder(line), IsError(ErrorCode::kCorrupt)) << line;
    EXPECT_THAT(ParsePartDone(line), IsError(ErrorCode::kCorrupt)) << line;
  }
}

}  // namespace
}  // namespace batchweave::demo
