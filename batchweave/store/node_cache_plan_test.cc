#include "batchweave/store/node_cache_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace batchweave {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<CachedCopy> Of(const std::string& folder, std::initializer_list<uint64_t> steps, uint64_t bytes = 10) {
  std::vector<CachedCopy> copies;
  for (const uint64_t step : steps) copies.push_back({.folder = folder, .name = "", .step = step, .bytes = bytes});
  return copies;
}

std::vector<uint64_t> StepsGone(const std::vector<CachedCopy>& copies, uint64_t bytes_max, uint64_t step) {
  std::vector<uint64_t> steps;
  for (const size_t index : PlanEviction(copies, bytes_max, "a", step)) steps.push_back(copies[index].step);
  return steps;
}

TEST(NodeCachePlanTest, NothingGoesWhereThereIsRoom) {
  EXPECT_THAT(StepsGone(Of("a", {1, 2, 3}), 30, 4), IsEmpty());
  EXPECT_THAT(PlanEviction({}, 0, "a", 1), IsEmpty());
}

TEST(NodeCachePlanTest, TheOldestStepsGoFirst) {
  EXPECT_THAT(StepsGone(Of("a", {7, 5, 6, 8}), 20, 9), ElementsAre(5, 6));
}

// A job that was set back reads again what lies ahead: the furthest is needed last.
TEST(NodeCachePlanTest, OfWhatLiesAheadTheFurthestGoesFirst) {
  EXPECT_THAT(StepsGone(Of("a", {100, 101, 102, 40, 41}), 10, 42), ElementsAre(40, 41, 102, 101));
}

TEST(NodeCachePlanTest, TheStreamThatHoldsMostGives) {
  std::vector<CachedCopy> copies = Of("a", {5, 6});
  const std::vector<CachedCopy> other = Of("b", {900, 901, 902, 903});
  copies.insert(copies.end(), other.begin(), other.end());
  EXPECT_THAT(StepsGone(copies, 40, 7), ElementsAre(900, 901));
  EXPECT_EQ(StepsGone(copies, 0, 7).size(), copies.size());
}

}  // namespace
}  // namespace batchweave
