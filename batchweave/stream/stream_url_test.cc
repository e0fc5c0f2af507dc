#include "batchweave/stream/stream_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchweave/testing/matchers.h"

namespace batchweave {

void PrintTo(const StreamUrl& url, std::ostream* out) { *out << url.folder << " + " << url.name; }

namespace {

TEST(StreamUrlTest, AUrlIsAFolderAndAName) {
  const auto splits = [](std::string_view url, const StreamUrl& expected) {
    EXPECT_THAT(SplitStreamUrl(url), IsOkAndHolds(expected)) << url;
  };
  splits("file:///data/runs/llm-7b", {.folder = "file:///data/runs", .name = "llm-7b"});
  splits("file:///data/runs/llm-7b/", {.folder = "file:///data/runs", .name = "llm-7b"});
  splits("file:///llm-7b", {.folder = "file:///", .name = "llm-7b"});
  splits("/data/llm-7b", {.folder = "/data", .name = "llm-7b"});
  splits("/llm-7b", {.folder = "/", .name = "llm-7b"});
  splits("./runs/llm-7b", {.folder = "./runs", .name = "llm-7b"});
  splits("llm-7b", {.folder = ".", .name = "llm-7b"});
  splits("s3://bucket/llm-7b", {.folder = "s3://bucket", .name = "llm-7b"});
  splits("s3://bucket/runs/llm-7b?region=x&endpoint=http://127.0.0.1:7070",
         {.folder = "s3://bucket/runs?region=x&endpoint=http://127.0.0.1:7070", .name = "llm-7b"});
}

TEST(StreamUrlTest, AUrlWithoutANameIsRefused) {
  for (const char* url : {"", "/", "file:///", "..", "runs/..", "runs/a b", "memory:", "memory:/run"}) {
    EXPECT_THAT(SplitStreamUrl(url), IsError(ErrorCode::kInvalidArgument, ::testing::HasSubstr(url))) << url;
  }
}

TEST(StreamUrlTest, ABucketAloneIsNoStream) {
  for (const char* url : {"s3://bucket", "s3://bucket/", "s3://bucket?region=a/b", "s3://"}) {
    EXPECT_THAT(SplitStreamUrl(url), IsError(ErrorCode::kInvalidArgument, ::testing::HasSubstr("names no stream")))
        << url;
  }
}

TEST(StreamUrlTest, WhatIsShownHoldsNoSecret) {
  EXPECT_EQ(SplitStreamUrl("other://host/a?token=secret")->name, "a");
  EXPECT_EQ(ShownUrl("s3://user:secret@bucket/runs/a?token=secret"), "s3://bucket/runs/a");
  EXPECT_EQ(ShownUrl("s3://bucket/runs"), "s3://bucket/runs");
  EXPECT_EQ(ShownUrl("/data/what?@is"), "/data/what?@is");
}

}  // namespace
}  // namespace batchweave
