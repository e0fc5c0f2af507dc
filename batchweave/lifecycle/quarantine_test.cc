#include "batchweave/lifecycle/quarantine.h"

#include <gmock/gmock.h>

#include "batchweave/lifecycle/group.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/live_stream.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class QuarantineTest : public ::testing::Test {
 protected:
  QuarantineTest() {
    stream_.Open("tok");
    stream_.Append("tok", 10);
    EXPECT_THAT(CreateGroup(stream_.log(), "train", Step{0}, kForever), IsOk());
  }

  Session OpenSession() { return *OpenGroupSession(stream_.log(), "train", Step{0}, kForever); }
  void Set(StepRange range) { ASSERT_THAT(SetQuarantine(stream_.log(), range, "loss spike", kForever), IsOk()); }
  void Lift(StepRange range) { ASSERT_THAT(LiftQuarantine(stream_.log(), range, kForever), IsOk()); }

  MemoryStore store_;
  LiveStream stream_{store_};
};

// Covers M13.
TEST_F(QuarantineTest, TakesEffectForTheSessionsOpenedAfterItHoweverLateARankAsks) {
  const Session before = OpenSession();
  Set({{2}, {4}});
  const Session under = OpenSession();
  Lift({{2}, {4}});
  const Session after = OpenSession();
  stream_.Append("tok", 3);
  const Manifest newest = stream_.Newest();
  EXPECT_THAT(SkippedBy(newest, before), IsEmpty());
  EXPECT_THAT(SkippedBy(newest, under), ElementsAre(StepRange{{2}, {4}}));
  EXPECT_THAT(SkippedBy(newest, after), IsEmpty());
  EXPECT_THAT(SkippedBy(newest, Session{}), IsEmpty()) << "a reader without a group";
}

// Covers I11.
TEST_F(QuarantineTest, EveryVersionSinceTheSessionSaysTheSame) {
  Set({{1}, {2}});
  const Session session = OpenSession();
  const std::vector<StepRange> skipped = SkippedBy(stream_.Newest(), session);
  ASSERT_THAT(skipped, ElementsAre(StepRange{{1}, {2}}));
  Set({{5}, {6}});
  EXPECT_EQ(SkippedBy(stream_.Newest(), session), skipped);
  Lift({{1}, {2}});
  EXPECT_EQ(SkippedBy(stream_.Newest(), session), skipped);
  Set({{1}, {2}});
  EXPECT_EQ(SkippedBy(stream_.Newest(), session), skipped);
}

TEST_F(QuarantineTest, RangesThatTouchAreOne) {
  Set({{6}, {8}});
  Set({{2}, {5}});
  Set({{4}, {6}});
  Set({{9}, {10}});
  EXPECT_THAT(SkippedBy(stream_.Newest(), OpenSession()), ElementsAre(StepRange{{2}, {8}}, StepRange{{9}, {10}}));
}

TEST_F(QuarantineTest, TellsWhatIsWrong) {
  ManifestLog& log = stream_.log();
  stream_.Change([](Manifest& next) {
    next.groups[0].start = next.groups[0].smallest_held = {3};
    next.first_step = {3};
    next.tail.erase(next.tail.begin(), next.tail.begin() + 3);
  });
  EXPECT_THAT(SetQuarantine(log, {{1}, {3}}, "gone", kForever), IsError(ErrorCode::kTrimmed));
  EXPECT_THAT(SetQuarantine(log, {{9}, {11}}, "beyond", kForever), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(SetQuarantine(log, {{5}, {5}}, "no steps", kForever), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(SetQuarantine(log, {{5}, {6}}, "", kForever), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(SetQuarantine(log, {{5}, {6}}, std::string(300, 'x'), kForever), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(LiftQuarantine(log, {{5}, {6}}, kForever), IsError(ErrorCode::kNotFound));
}

}  // namespace
}  // namespace batchweave
