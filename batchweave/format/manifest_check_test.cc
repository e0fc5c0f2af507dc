#include "batchweave/format/manifest_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "batchweave/testing/format_builders.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;
using Kind = ArchiveRef::Kind;

struct Broken {
  std::string rule;
  std::function<void(Manifest&)> change;
};

// Steps 10 to 13: two archived objects up to 12, one entry each of "a" and "b"; one group with two checkpoints; a
// quarantine that was lifted; archived rows.
Manifest MakeFull() {
  Manifest manifest = MakeManifest({MakeEntry("a", 5), MakeEntry("b", 7)});
  manifest.version = {100};
  manifest.first_step = {10};
  manifest.next_step = {14};
  manifest.archives = {{.kind = Kind::kIndex, .version = {50}, .first = {8}, .end = {11}, .level = 1},
                       {.kind = Kind::kEntries, .version = {60}, .first = {11}, .end = {12}}};
  manifest.groups = {{.name = "g", .session = {90}, .start_held = false, .smallest_held = {11}}};
  manifest.checkpoints = {{.group = "g", .name = "first", .position = {13}, .order = 1},
                          {.group = "g", .name = "second", .position = {11}, .order = 2}};
  manifest.quarantines = {{.first = {10}, .end = {12}, .reason = "noise", .set_at = {80}, .lifted_at = {81}},
                          {.first = {11}, .end = {12}, .set_at = {85}}};
  manifest.archived_rows = ArchiveRef{.kind = Kind::kRows, .version = {70}};
  SetRows(manifest);
  return manifest;
}

void ExpectEachBroken(const std::vector<Broken>& broken) {
  for (size_t i = 0; i < broken.size(); ++i) {
    Manifest manifest = MakeFull();
    broken[i].change(manifest);
    EXPECT_THAT(CheckManifest(manifest), IsError(ErrorCode::kCorrupt, HasSubstr(broken[i].rule))) << i;
  }
}

TEST(CheckManifestTest, GoodManifestsPass) {
  EXPECT_THAT(CheckManifest(MakeFull()), IsOk());
  EXPECT_THAT(CheckManifest(MakeManifest()), IsOk());
}

// Covers I3.
TEST(CheckManifestTest, StepsAreContiguous) {
  ExpectEachBroken({
      {"no version", [](Manifest& m) { m.version = {0}; }},
      {"first step is beyond", [](Manifest& m) { m.first_step = {15}; }},
      {"more entries than steps", [](Manifest& m) { m = MakeManifest({MakeEntry("a", 1)}), m.next_step = {0}; }},
      {"entry is newer", [](Manifest& m) { m.tail[0].incarnation = {101}; }},
      {"steps are missing", [](Manifest& m) { m.archives.erase(m.archives.begin()); }},
      {"steps are missing", [](Manifest& m) { m.archives.clear(); }},
      {"not contiguous", [](Manifest& m) { m.archives[0].end = {10}; }},
      {"not contiguous", [](Manifest& m) { m.archives[1].first = {10}; }},
      {"where the tail begins", [](Manifest& m) { m.archives.pop_back(); }},
      {"where the tail begins", [](Manifest& m) { m.tail.pop_back(); }},
      {"no steps", [](Manifest& m) { m.archives[1].first = m.archives[1].end; }},
      {"wrong level", [](Manifest& m) { m.archives[0].level = 0; }},
      {"wrong level", [](Manifest& m) { m.archives[1].level = 1; }},
      {"archived rows among", [](Manifest& m) { m.archives.push_back(*m.archived_rows); }},
      {"has no version", [](Manifest& m) { m.archives[0].version = {0}; }},
      {"archived object is newer", [](Manifest& m) { m.archives[0].version = {101}; }},
  });
}

TEST(CheckManifestTest, GroupsHoldWhatIsThere) {
  ExpectEachBroken({
      {"too many groups", [](Manifest& m) { m.groups.resize(kGroupsMax + 1); }},
      {"group has no valid name", [](Manifest& m) { m.groups[0].name = ""; }},
      {"groups are out of order", [](Manifest& m) { m.groups.push_back(m.groups[0]); }},
      {"session is newer", [](Manifest& m) { m.groups[0].session = {101}; }},
      {"steps that are not there", [](Manifest& m) { m.groups[0].smallest_held = {9}; }},
      {"steps that are not there", [](Manifest& m) { m.groups[0].smallest_held = {15}; }},
      {"miscounted", [](Manifest& m) { m.groups[0].smallest_held = {12}; }},
      {"miscounted", [](Manifest& m) { m.groups[0].start_held = true, m.groups[0].start = {10}; }},
      {"miscounted", [](Manifest& m) { m.checkpoints.clear(); }},
      {"too many checkpoints", [](Manifest& m) { m.checkpoints.resize(kCheckpointsMax + 1); }},
      {"checkpoint has no valid name", [](Manifest& m) { m.checkpoints[0].name = "/"; }},
      {"checkpoint of a step", [](Manifest& m) { m.checkpoints[0].position = {15}; }},
      {"checkpoint of a group", [](Manifest& m) { m.checkpoints[0].group = "h"; }},
      {"checkpoints are out of order", [](Manifest& m) { m.checkpoints[0].order = 2; }},
      {"there twice", [](Manifest& m) { m.checkpoints[0].name = "second"; }},
  });
}

TEST(CheckManifestTest, QuarantinesAreSetBeforeTheyAreLifted) {
  ExpectEachBroken({
      {"too many quarantines", [](Manifest& m) { m.quarantines.resize(kQuarantinesMax + 1); }},
      {"of no steps", [](Manifest& m) { m.quarantines[0].end = m.quarantines[0].first; }},
      {"reason", [](Manifest& m) { m.quarantines[0].reason.resize(kReasonBytesMax + 1); }},
      {"impossible version", [](Manifest& m) { m.quarantines[0].set_at = {0}; }},
      {"impossible version", [](Manifest& m) { m.quarantines[0].lifted_at = {80}; }},
      {"impossible version", [](Manifest& m) { m.quarantines[0].lifted_at = {101}; }},
      {"impossible version", [](Manifest& m) { m.quarantines[1].set_at = {101}; }},
      {"out of order", [](Manifest& m) { std::swap(m.quarantines[0], m.quarantines[1]); }},
  });
}

TEST(CheckManifestTest, RowsAgreeWithTheTail) {
  ExpectEachBroken({
      {"without a valid name", [](Manifest& m) { m.rows[0].producer = "."; }},
      {"no incarnation", [](Manifest& m) { m.rows[0].incarnation = {0}; }},
      {"row is newer", [](Manifest& m) { m.rows[0].incarnation = {101}; }},
      {"step without a seq", [](Manifest& m) { m.rows[0].seq = 0; }},
      {"step without a seq", [](Manifest& m) { m.rows[0].step.reset(); }},
      {"cursor", [](Manifest& m) { m.rows[0].cursor = Bytes(kCursorBytesMax + 1); }},
      {"rows are out of order", [](Manifest& m) { std::swap(m.rows[0], m.rows[1]); }},
      {"rows are out of order", [](Manifest& m) { m.rows.push_back(m.rows.back()); }},
      {"row of a step that", [](Manifest& m) { m.rows[0].step = Step{14}; }},
      {"another producer's step", [](Manifest& m) { m.rows[0].step = Step{13}; }},
      {"another producer's step", [](Manifest& m) { m.rows[0].seq = 6; }},
      {"archived rows are of another kind", [](Manifest& m) { m.archived_rows->version = {101}; }},
      {"archived rows are of another kind", [](Manifest& m) { m.archived_rows = m.archives[0]; }},
      {"archived rows have steps", [](Manifest& m) { m.archived_rows->end = {1}; }},
  });
}

TEST(SmallestHeldTest, IsTheStartUntilACheckpointTakesItsPlace) {
  Manifest manifest = MakeFull();
  GroupRow group = manifest.groups[0];
  EXPECT_EQ(SmallestHeld(manifest, group), Step{11});
  group.start_held = true;
  group.start = {10};
  EXPECT_EQ(SmallestHeld(manifest, group), Step{10});
  manifest.checkpoints.clear();
  group.start_held = false;
  EXPECT_EQ(SmallestHeld(manifest, group), kNothingHeld);
}

}  // namespace
}  // namespace batchweave
