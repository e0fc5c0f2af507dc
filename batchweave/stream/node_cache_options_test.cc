#include "batchweave/stream/node_cache_options.h"

#include <gtest/gtest.h>

#include "batchweave/stream/open_env.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(NodeCacheOptionsTest, TheyAreTakenOutOfTheUrl) {
  const SplitNodeCache split =
      SplitNodeCacheOptions("s3://bucket/runs?region=r&node_cache_dir=%2Fvar/a+b&endpoint=there&node_cache_bytes=77",
                            {})
          .value();
  EXPECT_EQ(split.url, "s3://bucket/runs?region=r&endpoint=there");
  EXPECT_EQ(split.node_cache.dir, "/var/a b");
  EXPECT_EQ(split.node_cache.bytes_max, 77u);
  EXPECT_EQ(SplitNodeCacheOptions("s3://b/r?node_cache_dir=/c", {})->url, "s3://b/r");
  EXPECT_EQ(SplitNodeCacheOptions("s3://b/r", {})->url, "s3://b/r");
}

TEST(NodeCacheOptionsTest, StorageOptionsGoBefore) {
  const SplitNodeCache split =
      SplitNodeCacheOptions("s3://b/r?node_cache_dir=/url", {{"node_cache_dir", "/option"}, {"region", "r"}}).value();
  EXPECT_EQ(split.node_cache.dir, "/option");
  EXPECT_THAT(split.storage_options, ElementsAre(Pair("region", "r")));
}

TEST(NodeCacheOptionsTest, APathIsLeftAlone) {
  EXPECT_EQ(SplitNodeCacheOptions("/data/what?node_cache_dir=/c", {})->url, "/data/what?node_cache_dir=/c");
  EXPECT_EQ(SplitNodeCacheOptions("/data", {{"node_cache_dir", "/c"}})->node_cache.dir, "/c");
}

TEST(NodeCacheOptionsTest, StoresThatDifferAreToldApart) {
  const auto identity = [](const char* url) { return SplitNodeCacheOptions(url, {})->identity; };
  EXPECT_EQ(identity("s3://b/r?region=x"), identity("s3://b/r"));
  EXPECT_NE(identity("s3://b/r"), identity("s3://c/r"));
  EXPECT_NE(identity("s3://b/r"), identity("s3://b/r?endpoint=there"));
  EXPECT_EQ(identity("/data/x/../y"), identity("file:///data/y"));
}

TEST(NodeCacheOptionsTest, WhatIsNoneIsRefused) {
  EXPECT_THAT(SplitNodeCacheOptions("s3://b?node_cache_bytes=5", {}),
              IsError(ErrorCode::kInvalidArgument, HasSubstr("node_cache_dir")));
  for (const char* bytes : {"", "5GiB", "-1", "99999999999999999999999"}) {
    EXPECT_THAT(SplitNodeCacheOptions("s3://b", {{"node_cache_dir", "/c"}, {"node_cache_bytes", bytes}}),
                IsError(ErrorCode::kInvalidArgument, HasSubstr("number of bytes")))
        << bytes;
  }
  EXPECT_THAT(OpenEnv("memory:", {.storage_options = {{"node_cache_dir", "/no/such/folder"}}}),
              IsError(ErrorCode::kNotFound, HasSubstr("node_cache_dir")));
  EXPECT_THAT(OpenEnv("memory:", {.storage_options = {{"node_cache_dir", "/no/such/folder"}}, .node_cache = false}),
              IsOk());
}

}  // namespace
}  // namespace batchweave
