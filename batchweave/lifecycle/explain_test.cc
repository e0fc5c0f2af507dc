#include "batchweave/lifecycle/explain.h"

#include <gmock/gmock.h>

#include "batchweave/testing/format_builders.h"

namespace batchweave {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// Steps 0 to 9: four archived ones of 100 bytes together, six in the tail.
Manifest TenSteps() {
  Manifest manifest = MakeManifest({MakeEntry("tok", 5), MakeEntry("tok", 6), MakeEntry("tok", 7), MakeEntry("tok", 8),
                                    MakeEntry("tok", 9), MakeEntry("tok", 10)});
  manifest.next_step = {10};
  manifest.archives = {{.version = {1}, .first = {0}, .end = {4}, .payload_bytes = 100}};
  return manifest;
}

uint64_t EntryBytes() { return MakeEntry("tok", 1).parts[0].object_bytes; }

TEST(ExplainTest, WithoutAGroupNothingIsHeld) { EXPECT_THAT(ExplainHolds(TenSteps()), IsEmpty()); }

TEST(ExplainTest, EachHoldKeepsWhatComesAfterItAndTheFirstSomeAlone) {
  Manifest manifest = TenSteps();
  manifest.groups = {{.name = "eval", .start = {8}, .smallest_held = {8}},
                     {.name = "train", .start_held = false, .smallest_held = {2}}};
  manifest.checkpoints = {{.group = "train", .name = "golden", .position = {2}, .pinned = true, .order = 1},
                          {.group = "train", .name = "c9", .position = {9}, .order = 2}};
  const std::vector<Hold> holds = ExplainHolds(manifest);
  ASSERT_THAT(holds, SizeIs(3));
  EXPECT_EQ(holds[0].checkpoint, "golden");
  EXPECT_TRUE(holds[0].pinned);
  EXPECT_EQ(holds[0].steps, 8u);
  EXPECT_EQ(holds[0].bytes, 50 + 6 * EntryBytes());
  EXPECT_EQ(holds[0].steps_alone, 6u);
  EXPECT_EQ(holds[0].bytes_alone, 50 + 4 * EntryBytes());
  EXPECT_EQ(holds[1].group, "eval");
  EXPECT_EQ(holds[1].checkpoint, std::nullopt);
  EXPECT_EQ(holds[1].bytes, 2 * EntryBytes());
  EXPECT_EQ(holds[2].bytes, EntryBytes());
  EXPECT_EQ(holds[2].bytes_alone, 0u);
}

TEST(ExplainTest, WhatIsTrimmedCountsNothing) {
  Manifest manifest = TenSteps();
  manifest.first_step = {3};
  EXPECT_EQ(DataBytes(manifest, Step{0}, Step{5}), 25 + EntryBytes());
}

}  // namespace
}  // namespace batchweave
