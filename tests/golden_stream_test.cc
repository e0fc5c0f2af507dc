// Whole streams as the two faces first wrote them, in a directory each: what Python wrote reads here, and what is written
// here reads in Python (python/tests/test_golden.py). To write the one of C++ anew, remove it and run with
// BATCHWEAVE_WRITE_GOLDEN set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "batchweave/base/hash.h"
#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

const std::string kFolder = BATCHWEAVE_GOLDEN_FOLDER;

// {"ids": [0, 1, 2, 3] of int32}, as safetensors: 8 bytes of length, the header and its blanks, the numbers.
std::string Ids() {
  std::string header = R"({"ids":{"dtype":"I32","shape":[4],"data_offsets":[0,16]}})";
  header.resize(120, ' ');
  std::string slice("\x78\0\0\0\0\0\0\0", 8);
  slice += header;
  for (const char id : {0, 1, 2, 3}) slice += std::string({id, 0, 0, 0});
  return slice;
}

constexpr uint64_t kSchemaOfIds = 0x66e44b7abd8a1ea8;  // Of "ids\nI32\n1\n".

TEST(GoldenStreamTest, TheSchemaHashIsThatOfNamesDtypesAndDimensions) {
  EXPECT_EQ(Hash64(AsBytes("ids\nI32\n1\n")), kSchemaOfIds);
}

TEST(GoldenStreamTest, WhatPythonWroteIsRead) {
  const std::unique_ptr<OwnedEnv> env = *OpenEnv(kFolder);
  Stream stream = *Stream::Open(env->env(), "by-python");
  Consumer rank = *stream.OpenConsumer({.rank = {.dp_rank = 1, .dp_size = 2}});

  const RankBatch tensors = **rank.Next();
  EXPECT_EQ(AsText(tensors.slices()[0].bytes), Ids());
  EXPECT_EQ(tensors.entry().content_type, "application/x-safetensors");
  EXPECT_EQ(tensors.entry().schema_hash, kSchemaOfIds);
  EXPECT_EQ(AsText(tensors.entry().metadata), R"({"mix":{"web":0.5}})");
  EXPECT_EQ(AsText(tensors.entry().cursor), "1");
  EXPECT_EQ(tensors.entry().samples, 2u);

  const RankBatch bytes = **rank.Next();
  EXPECT_EQ(AsText(bytes.slices()[0].bytes), "right");
  EXPECT_EQ(bytes.entry().content_type, "application/octet-stream");
  EXPECT_EQ(bytes.entry().schema_hash, 0u);
  EXPECT_FALSE((*rank.Next()).has_value());
}

void WriteByCpp() {
  const std::unique_ptr<OwnedEnv> env = *OpenEnv(kFolder);
  Stream stream = *Stream::Open(env->env(), "by-cpp", {.create = true});
  Producer producer = *stream.OpenProducer("source");
  GlobalBatch tensors({.dp = 1, .cp = 2}, {.content_type = "application/x-safetensors", .schema_hash = kSchemaOfIds});
  for (const uint32_t cp : {0u, 1u}) ASSERT_THAT(tensors.Set({.cp = cp}, ToBytes(Ids())), IsOk());
  ASSERT_THAT(producer.Publish(std::move(tensors),
                               {.cursor = ToBytes("1"), .samples = 1, .metadata = ToBytes(R"({"by":"C++"})")}),
              IsOk());
  GlobalBatch bytes({.dp = 1, .cp = 1});
  ASSERT_THAT(bytes.Set({}, ToBytes("plain")), IsOk());
  ASSERT_THAT(producer.Publish(std::move(bytes), {.cursor = ToBytes("2"), .metadata = ToBytes("no JSON")}), IsOk());
  ASSERT_THAT(producer.Finish(), IsOk());
  ASSERT_THAT(stream.Seal(), IsOk());
}

TEST(GoldenStreamTest, WhatPythonReadsIsThere) {
  if (std::getenv("BATCHWEAVE_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(kFolder + "/by-cpp")) WriteByCpp();
  const std::unique_ptr<OwnedEnv> env = *OpenEnv(kFolder);
  Stream stream = *Stream::Open(env->env(), "by-cpp");
  Consumer rank = *stream.OpenConsumer({});
  EXPECT_EQ(AsText((**rank.Next()).slices()[1].bytes), Ids());
  EXPECT_EQ(AsText((**rank.Next()).slices()[0].bytes), "plain");
}

}  // namespace
}  // namespace batchweave
