#include "bench/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace batchweave::bench {
namespace {

using ::testing::HasSubstr;

Figure FigureOf(double value, Target::Kind kind, double limit) {
  return {.key = "ratio", .value = value, .target = Target{.kind = kind, .limit = limit}, .meaning = "of two times"};
}

TEST(ReportTest, ATargetIsMetAtItsLimit) {
  EXPECT_TRUE(MeetsTarget(FigureOf(0.9, Target::Kind::kAtLeast, 0.9)));
  EXPECT_FALSE(MeetsTarget(FigureOf(0.89, Target::Kind::kAtLeast, 0.9)));
  EXPECT_TRUE(MeetsTarget(FigureOf(6, Target::Kind::kAtMost, 6)));
  EXPECT_FALSE(MeetsTarget(FigureOf(7, Target::Kind::kAtMost, 6)));
  EXPECT_FALSE(MeetsTarget(FigureOf(1.01, Target::Kind::kExactly, 1)));
}

TEST(ReportTest, JsonIsOneLineInTheOrderOfTheReport) {
  const Report report{{.key = "requests", .value = 4, .target = {}, .meaning = ""},
                      {.key = "ratio", .value = 0.912345, .target = {}, .meaning = ""}};
  EXPECT_EQ(ToJson(report), R"({"requests":4,"ratio":0.9123})");
}

TEST(ReportTest, TheTableSaysWhatWasMissed) {
  EXPECT_THAT(ToTable({FigureOf(0.5, Target::Kind::kAtLeast, 0.9)}), HasSubstr("MISSED"));
}

}  // namespace
}  // namespace batchweave::bench
