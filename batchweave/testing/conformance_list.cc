// LIST: prefixes, pages, order.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "batchweave/testing/conformance.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

TEST_P(ObjectStoreConformance, AnEmptyStoreListsNothing) {
  EXPECT_THAT(Keys("", 10), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(Keys("a/b", 10), IsOkAndHolds(IsEmpty()));
}

TEST_P(ObjectStoreConformance, APrefixMayEndAnywhere) {
  for (const char* key : {"a/bc/d", "a/bc/e", "a/bd", "a/c", "ab", "b"}) ASSERT_THAT(Create(key, key), IsOk());
  EXPECT_THAT(Keys("a/b", 10), IsOkAndHolds(UnorderedElementsAre("a/bc/d", "a/bc/e", "a/bd")));
  EXPECT_THAT(Keys("a/", 10), IsOkAndHolds(UnorderedElementsAre("a/bc/d", "a/bc/e", "a/bd", "a/c")));
  EXPECT_THAT(Keys("a", 10), IsOkAndHolds(UnorderedElementsAre("a/bc/d", "a/bc/e", "a/bd", "a/c", "ab")));
  EXPECT_THAT(Keys("a/bc/d", 10), IsOkAndHolds(UnorderedElementsAre("a/bc/d")));
  EXPECT_THAT(Keys("a/bc/d/", 10), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(Keys("a/x", 10), IsOkAndHolds(IsEmpty()));
}

TEST_P(ObjectStoreConformance, AListTellsSizes) {
  ASSERT_THAT(Create("a/b", "text"), IsOk());
  ASSERT_THAT(Create("a/c", ""), IsOk());
  const ListPage page = *store().List("a/", "", 10);
  EXPECT_THAT(page.objects, UnorderedElementsAre(ListedObject{"a/b", 4}, ListedObject{"a/c", 0}));
}

TEST_P(ObjectStoreConformance, PagesShowEveryKeyOnce) {
  // Names whose order by components differs from that by bytes.
  const std::vector<std::string> keys = {"a-b", "a.b", "a/b/c", "a/b-", "a/c", "a0", "b/x/y/z", "b/x/y0", "c"};
  for (const std::string& key : keys) ASSERT_THAT(Create(key, "x"), IsOk());
  for (size_t limit = 1; limit <= keys.size() + 1; ++limit) {
    EXPECT_THAT(Keys("", limit), IsOkAndHolds(UnorderedElementsAreArray(keys))) << limit;
  }
  EXPECT_THAT(Keys("a/", 1), IsOkAndHolds(UnorderedElementsAre("a/b/c", "a/b-", "a/c")));
}

TEST_P(ObjectStoreConformance, TheLastPageSaysSo) {
  for (const char* key : {"a/1", "a/2", "b/1"}) ASSERT_THAT(Create(key, "x"), IsOk());
  EXPECT_EQ(store().List("a/", "", 2)->next_start_after, "");
  EXPECT_NE(store().List("a/", "", 1)->next_start_after, "");
}

TEST_P(ObjectStoreConformance, MoreThanAThousandKeysAreListed) {
  constexpr int kThreads = 32;  // Syncs to a disk are slow, but not if many are asked for together.
  constexpr int kKeys = 1056;
  const auto key_of = [](int i) { return fmt::format("many/{}/{:04}", i % 3, i); };
  RunTogether(kThreads, [&](int thread) {
    for (int i = thread; i < kKeys; i += kThreads) EXPECT_THAT(Create(key_of(i), "x"), IsOk());
  });
  std::vector<std::string> keys;
  for (int i = 0; i < kKeys; ++i) keys.push_back(key_of(i));
  EXPECT_THAT(Keys("many/", 1000), IsOkAndHolds(UnorderedElementsAreArray(keys)));
  EXPECT_THAT(Keys("many/", kKeys), IsOkAndHolds(UnorderedElementsAreArray(keys)));
  EXPECT_EQ(Keys("many/1/", 100)->size(), size_t{kKeys / 3});
}

TEST_P(ObjectStoreConformance, PagesGoOnWhileKeysComeAndGo) {
  for (const char* key : {"a/1", "a/2", "a/3", "a/4"}) ASSERT_THAT(Create(key, "x"), IsOk());
  const ListPage first = *store().List("a/", "", 2);
  const std::vector<std::string> listed = {first.objects[0].key, first.objects[1].key};
  ASSERT_THAT(store().Delete(listed), IsOk());
  const ListPage second = *store().List("a/", first.next_start_after, 10);
  std::vector<std::string> seen = listed;
  for (const ListedObject& object : second.objects) seen.push_back(object.key);
  EXPECT_THAT(seen, UnorderedElementsAre("a/1", "a/2", "a/3", "a/4"));
}

TEST_P(ObjectStoreConformance, AnOrderedStoreListsInBytewiseOrderFromAnywhere) {
  for (const char* key : {"a-b", "a/b", "a/c/d", "a0", "b"}) ASSERT_THAT(Create(key, "x"), IsOk());
  if (!store().traits().ordered_list) return;
  const std::vector<std::string> keys = *Keys("", 2);
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  EXPECT_EQ(store().List("", "a/bb", 1)->objects.front().key, "a/c/d");
  EXPECT_EQ(store().List("a/", "A", 1)->objects.front().key, "a/b");
  EXPECT_THAT(store().List("a/", "a/zz", 1)->objects, IsEmpty());
}

TEST_P(ObjectStoreConformance, APrefixThatNoKeyCanHaveListsNothing) {
  ASSERT_THAT(Create("a/b", "x"), IsOk());
  for (const char* prefix : {"/", "../", "a/../a/", "./", "a//", ".", "//a"}) {
    EXPECT_THAT(Keys(prefix, 10), IsOkAndHolds(IsEmpty())) << prefix;
  }
}

}  // namespace
}  // namespace batchweave
