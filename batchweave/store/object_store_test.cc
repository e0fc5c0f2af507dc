#include "batchweave/store/object_store.h"

#include <gtest/gtest.h>

#include "batchweave/store/memory_store.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

TEST(KeyTest, TellsGoodKeysFromBad) {
  for (const char* key : {"a", "a/b", "A9._-~", "a..b/c.", "_"}) EXPECT_TRUE(IsValidKey(key)) << key;
  for (const char* key : {"", "/", "a/", "/a", "a//b", ".", "..", "a/./b", "a/../b", ".hidden"}) {
    EXPECT_FALSE(IsValidKey(key)) << key;
  }
  EXPECT_FALSE(IsValidKey(std::string_view("a\0b", 3)));
}

TEST(KeyTest, SaysWhichKeyAndWhy) {
  EXPECT_THAT(CheckKey("a/b"), IsOk());
  EXPECT_THAT(CheckKey("a/../b"), IsError(ErrorCode::kInvalidArgument, HasSubstr("beginning with a dot")));
  EXPECT_THAT(CheckKey("a/../b"), IsError(ErrorCode::kInvalidArgument, HasSubstr("key=a/../b")));
}

TEST(ForEachObjectTest, VisitsAllBelowAPrefixAndStopsAtAnError) {
  MemoryStore store;
  for (const char* key : {"a/1", "a/2", "b/1"}) ASSERT_THAT(PutBytes(store, key, {}, PutMode::kCreate), IsOk());
  std::vector<std::string> seen;
  const auto visit = [&](const ListedObject& object) -> Result<void> {
    seen.push_back(object.key);
    if (object.key == "a/2") return Error{ErrorCode::kCorrupt, "enough"};
    return {};
  };
  EXPECT_THAT(ForEachObject(store, "b/", visit), IsOk());
  EXPECT_THAT(ForEachObject(store, "", visit), IsError(ErrorCode::kCorrupt, "enough"));
  EXPECT_EQ(seen, (std::vector<std::string>{"b/1", "a/1", "a/2"}));
}

// Covers E3.
TEST(MemoryStoreTest, WithoutOrderItListsInAnotherThanBytewiseOrder) {
  MemoryStore store({.ordered_list = false});
  for (const char* key : {"1", "2", "3"}) ASSERT_THAT(PutBytes(store, key, {}, PutMode::kCreate), IsOk());
  EXPECT_FALSE(store.traits().ordered_list);
  EXPECT_EQ(store.List("", "", 1)->objects.front().key, "3");
}

}  // namespace
}  // namespace batchweave
