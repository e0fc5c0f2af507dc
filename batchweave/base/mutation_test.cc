#include "batchweave/base/mutation.h"

#include <gtest/gtest.h>

#include <set>

namespace batchweave {
namespace {

#define BW_IS_CONSTANT_FALSE(name, invariant, breach) static_assert(!BW_MUTATION(name));
BW_MUTATIONS(BW_IS_CONSTANT_FALSE)
#undef BW_IS_CONSTANT_FALSE
static_assert(!BW_ANY_MUTATION);

TEST(MutationTest, NamesAreFoundAgain) {
  std::set<std::string_view> names;
  for (const MutationInfo& info : AllMutations()) {
    EXPECT_EQ(MutationName(info.mutation), info.name);
    EXPECT_EQ(FindMutation(info.name), info.mutation);
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
  }
  EXPECT_EQ(FindMutation("kNone"), std::nullopt);
  EXPECT_EQ(FindMutation("kNoSuchMutation"), std::nullopt);
}

TEST(MutationTest, NoneCanBeSetHere) { EXPECT_FALSE(SetMutation(Mutation::kUnknownTakenForWon)); }

TEST(MutationTest, EachInvariantIsBreachedByOneAtLeast) {
  std::set<std::string_view> breached;
  for (const MutationInfo& info : AllMutations()) breached.insert(info.invariant);
  // I1 to I13, and "errors": what a caller is told that is not so.
  EXPECT_EQ(breached.size(), 14u);
}

}  // namespace
}  // namespace batchweave
