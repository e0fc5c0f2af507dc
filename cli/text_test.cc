#include "cli/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace batchweave::cli {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(TextTest, LargeNumbersAreGrouped) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1000), "1,000");
  EXPECT_EQ(Grouped(1'002'003), "1,002,003");
  EXPECT_EQ(Grouped(std::numeric_limits<uint64_t>::max()), "18,446,744,073,709,551,615");
  EXPECT_EQ(Counted(1, "step"), "1 step");
  EXPECT_EQ(Counted(2000, "step"), "2,000 steps");
}

TEST(TextTest, AgesAreInTheUnitThatAPersonWouldUse) {
  EXPECT_EQ(Ago(seconds(-5)), "just now");
  EXPECT_EQ(Ago(seconds(0)), "just now");
  EXPECT_EQ(Ago(seconds(119)), "119 s ago");
  EXPECT_EQ(Ago(seconds(120)), "2 min ago");
  EXPECT_EQ(Ago(minutes(119)), "119 min ago");
  EXPECT_EQ(Ago(hours(47)), "47 h ago");
  EXPECT_EQ(Ago(hours(48)), "2 days ago");
}

TEST(TextTest, TimesAreUtc) { EXPECT_EQ(UtcTime(1'767'225'600'500'000'000), "2026-01-01 00:00:00 UTC"); }

TEST(TextTest, OnlyTextThatATerminalShowsIsText) {
  for (const char* text : {"", "shard-7:12", "Grüße", "漢字", "\xf0\x9f\x8e\xb2"}) {
    EXPECT_TRUE(IsPrintableUtf8(AsBytes(text))) << text;
  }
  // Control characters, cut short, overlong, surrogate, beyond Unicode, a lone continuation.
  for (const char* text : {"a\nb", "\x1b[31m", "\x7f", "\xc2\x85", "\xe6\xbc", "\xc0\xaf", "\xe0\x80\xaf",
                           "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\x80"}) {
    EXPECT_FALSE(IsPrintableUtf8(AsBytes(text))) << ToHex(AsBytes(text));
  }
  EXPECT_EQ(TextOrHex(AsBytes("abc")), "abc");
  EXPECT_EQ(TextOrHex(AsBytes("a\n")), "0x610a");
  EXPECT_EQ(TextOrHex({}), "none");
}

TEST(TextTest, ShorteningCutsNoCharacterInTwo) {
  EXPECT_EQ(Shortened("Grüße", 5), "Grüße");
  EXPECT_EQ(Shortened("Grüße", 3), "Grü...");
}

TEST(TextTest, ColumnsAreAsWideAsTheirWidestCell) {
  Table table({"NAME", ">STEPS"});
  table.AddRow({"Grüße", "7"});
  table.AddRow({"a", "1,000"});
  EXPECT_EQ(table.Format("  "),
            "  NAME   STEPS\n"
            "  Grüße      7\n"
            "  a      1,000\n");
}

}  // namespace
}  // namespace batchweave::cli
