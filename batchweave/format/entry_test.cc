#include "batchweave/format/entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "batchweave/format/tgb.h"
#include "batchweave/testing/format_builders.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

struct Broken {
  std::string rule;
  std::function<void(Entry&)> change;
};

// The whole of MakeEntry's grid of 4 x 2 in two parts along dp.
Entry EntryOfTwoParts() {
  Entry entry = MakeEntry("p", 1);
  entry.parts.push_back(entry.parts.front());
  entry.parts[0].range.dp_count = 1;
  entry.parts[1].range = {.dp_begin = 1, .dp_count = 3, .cp_begin = 0, .cp_count = 2};
  for (Part& part : entry.parts) FillObjectBytes(part);
  return entry;
}

TEST(CheckEntryTest, GoodEntriesPass) {
  EXPECT_THAT(CheckEntry(MakeEntry("p", 1)), IsOk());
  EXPECT_THAT(CheckEntry(EntryOfTwoParts()), IsOk());
}

TEST(CheckEntryTest, EachRuleIsKept) {
  const std::vector<Broken> broken = {
      {"valid name", [](Entry& e) { e.producer = "a/b"; }},
      {"incarnation", [](Entry& e) { e.incarnation = {0}; }},
      {"or seq", [](Entry& e) { e.seq = 0; }},
      {"cursor", [](Entry& e) { e.cursor.resize(kCursorBytesMax + 1); }},
      {"metadata", [](Entry& e) { e.metadata.resize(kMetadataBytesMax + 1); }},
      {"content type", [](Entry& e) { e.content_type.resize(kContentTypeBytesMax + 1, 'x'); }},
      {"content type", [](Entry& e) { e.content_type = "text/\n"; }},
      {"grid", [](Entry& e) { e.grid.cp = 0; }},
      {"grid", [](Entry& e) { e.grid = {.dp = UINT32_MAX, .cp = UINT32_MAX}; }},
      {"too many parts", [](Entry& e) { e.parts.resize(kPartsMax + 1); }},
      {"tile", [](Entry& e) { e.parts.clear(); }},
      {"tile", [](Entry& e) { e.parts.pop_back(); }},
      {"tile", [](Entry& e) { e.parts[1].range.dp_begin = 0; }},
      {"tile", [](Entry& e) { e.parts[1].range.dp_begin = UINT32_MAX; }},
      {"tile", [](Entry& e) { e.parts[1].range.cp_count = UINT32_MAX; }},
      {"tile", [](Entry& e) { e.parts[1].range.cp_begin = 1; }},
      {"provenance", [](Entry& e) { e.parts[0].provenance_bytes = kProvenanceBytesMax + 1; }},
      {"footer", [](Entry& e) { e.parts[0].footer_bytes = kFooterTailBytes; }},
      {"slice lengths do not fit", [](Entry& e) { e.parts[0].slice_bytes = {1, 2, 3}; }},
      {"longer than an object", [](Entry& e) { e.parts[0].slice_bytes = {UINT64_MAX / 2}; }},
      {"fill their object", [](Entry& e) { ++e.parts[0].object_bytes; }},
      {"fill their object", [](Entry& e) { --e.parts[0].footer_bytes; }},
  };
  for (const auto& [rule, change] : broken) {
    Entry entry = EntryOfTwoParts();
    change(entry);
    EXPECT_THAT(CheckEntry(entry), IsError(ErrorCode::kCorrupt, HasSubstr(rule)));
  }
}

TEST(CheckEntryTest, LengthsInTheFooterStillLeaveRoomForTheFooter) {
  Entry entry = MakeEntry("p", 1);
  entry.parts[0].slice_bytes.clear();
  EXPECT_THAT(CheckEntry(entry), IsOk());
  entry.parts[0].object_bytes = entry.parts[0].footer_bytes;
  EXPECT_THAT(CheckEntry(entry), IsError(ErrorCode::kCorrupt, HasSubstr("too short")));
}

TEST(LengthsFitEntryTest, OneLengthForAllAlwaysFits) {
  Part part = WholePart({.dp = 4096, .cp = 16}, uint64_t{1} << 33);
  EXPECT_TRUE(LengthsFitEntry({part}));
  part.slice_bytes.assign(part.range.slices(), 0);
  EXPECT_FALSE(LengthsFitEntry({part}));
}

TEST(LengthsFitEntryTest, AllPartsCountTogether) {
  Part part = WholePart({.dp = 1024, .cp = 1}, 0);
  part.slice_bytes.assign(1024, 0);
  EXPECT_TRUE(LengthsFitEntry({part, part}));
  EXPECT_FALSE(LengthsFitEntry({part, part, part}));
}

TEST(PayloadBytesTest, CountsContentAlone) {
  Entry entry = EntryOfTwoParts();
  EXPECT_EQ(PayloadBytes(entry), 8000u);
  entry.parts[0].slice_bytes = {10, 20};
  EXPECT_EQ(PayloadBytes(entry), 6030u);
  entry.parts[0].slice_bytes.clear();
  EXPECT_EQ(PayloadBytes(entry), 6000 + entry.parts[0].object_bytes);
}

}  // namespace
}  // namespace batchweave
