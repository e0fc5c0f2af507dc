#include "cli/bottleneck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchweave/testing/format_builders.h"

namespace batchweave::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two producers in turn, one batch a second.
Manifest StreamOf(uint64_t steps) {
  Manifest manifest{.next_step = {steps}};
  for (uint64_t i = 0; i < steps; ++i) {
    manifest.tail.push_back(MakeEntry(i % 2 == 0 ? "a" : "b", i / 2 + 1, Incarnation{1}));
    manifest.tail.back().committed_at_ns = static_cast<int64_t>(i) * 1'000'000'000;
  }
  return manifest;
}

Bottleneck Found(const std::vector<GroupLead>& leads, int64_t now_s, const std::vector<SizeFigures>& figures = {}) {
  return FindBottleneck(StreamOf(10), leads, std::chrono::seconds(now_s), figures);
}

SizeFigures Figures(Duration put, double bytes_per_s) {
  return {.size_bytes = 1024, .put_p50 = put, .put_bytes_per_s = bytes_per_s, .get_bytes_per_s = bytes_per_s};
}

TEST(BottleneckTest, CountsTheTimeSinceTheLastCommitAndThePaceOfEachProducer) {
  const Bottleneck found = Found({}, 12);
  EXPECT_DOUBLE_EQ(*found.seconds_since_commit, 3);
  EXPECT_DOUBLE_EQ(found.steps_per_s, 1);
  EXPECT_THAT(found.producers, ElementsAre(ProducerPace{"a", 5, 0.5}, ProducerPace{"b", 5, 0.5}));
  EXPECT_EQ(found.bound, "nothing");
}

TEST(BottleneckTest, AGroupFarBehindIsBoundByItsTrainer) {
  EXPECT_EQ(Found({{"eval", 1}, {"train", 8}}, 10).bound, "trainer");
  EXPECT_THAT(Found({{"eval", 1}, {"train", 8}}, 10).why, HasSubstr("train"));
  EXPECT_EQ(Found({{"train", 8}}, 10, {Figures(std::chrono::milliseconds(1), 1)}).bound, "download");
}

TEST(BottleneckTest, AGroupAtTheEndWaitsForProducers) {
  EXPECT_EQ(Found({{"train", 0}}, 10).bound, "producers");
  EXPECT_EQ(Found({{"train", 0}}, 10, {Figures(std::chrono::milliseconds(1), 1e9)}).bound, "preparation");
  EXPECT_EQ(Found({{"train", 0}}, 10, {Figures(std::chrono::milliseconds(1), 1)}).bound, "upload");
  EXPECT_EQ(Found({{"train", 0}}, 10, {Figures(std::chrono::milliseconds(900), 1e9)}).bound, "commit");
  EXPECT_THAT(Found({{"train", 0}}, 1000).why, HasSubstr("stand still"));
}

TEST(BottleneckTest, AnEmptyStreamIsBoundByNothing) {
  EXPECT_EQ(FindBottleneck(Manifest{}, {}, Duration(0), {}).seconds_since_commit, std::nullopt);
}

}  // namespace
}  // namespace batchweave::cli
