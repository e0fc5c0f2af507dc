// A stream on a real server, and what is to be true of it whatever happened.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "batchweave/stream/verify.h"
#include "batchweave/testing/local_server.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {

class StreamOnServer : public ::testing::TestWithParam<ServerCase> {
 protected:
  void SetUp() override {
    server_ = GetParam().start();
    if (server_ == nullptr) GTEST_SKIP() << "not installed";
    env_ = OpenEnv(server_->Url("runs"), {.storage_options = server_->options()}).value();
    ASSERT_THAT(Stream::Create(env(), "run"), IsOk());
    stream_ = Stream::Open(env(), "run").value();
  }

  Env env() { return env_->env(); }

  static std::string Text(uint64_t number) { return "batch " + std::to_string(number); }

  static GlobalBatch Batch(uint64_t number) {
    GlobalBatch batch({.dp = 2, .cp = 1});
    for (const uint32_t dp : {0u, 1u}) EXPECT_THAT(batch.Set({.dp = dp}, ToBytes(Text(number))), IsOk());
    return batch;
  }

  static uint64_t Cursor(const Producer& producer) {
    return producer.cursor() ? std::stoull(std::string(AsText(*producer.cursor()))) : 0;
  }

  // Publishes the batches from where the last holder of the name stood up to `end`, one version each.
  static void Publish(Stream& stream, uint64_t end) {
    Result<Producer> producer = stream.OpenProducer("a");
    ASSERT_THAT(producer, IsOk());
    for (uint64_t number = Cursor(*producer); number < end; ++number) {
      ASSERT_THAT(producer->Publish(Batch(number), {.cursor = ToBytes(std::to_string(number + 1))}), IsOk());
      ASSERT_THAT(producer->Flush(), IsOk());
    }
  }
  void Publish(uint64_t end) { Publish(*stream_, end); }

  static void ExpectRead(Stream& stream, uint64_t begin, uint64_t end) {
    Consumer rank = stream.OpenConsumer({.position = Step{begin}}).value();
    for (uint64_t number = begin; number < end; ++number) {
      const Result<std::optional<RankBatch>> batch = rank.Next();
      ASSERT_THAT(batch, IsOk());
      ASSERT_TRUE(batch->has_value());
      EXPECT_EQ(AsText((*batch)->slices()[0].bytes), Text(number));
    }
  }
  void ExpectRead(uint64_t begin, uint64_t end) { ExpectRead(*stream_, begin, end); }

  // Each of the steps [first, next), once, with all its bytes.
  void ExpectWhole(uint64_t first, uint64_t next) {
    const Result<VerifyReport> report = VerifyStream(*stream_, {.deep = true});
    ASSERT_THAT(report, IsOk());
    EXPECT_TRUE(report->ok()) << report->findings.front().message;
    EXPECT_EQ(report->first_step, Step{first});
    EXPECT_EQ(report->next_step, Step{next});
  }

  uint64_t DataObjects() {
    uint64_t objects = 0;
    EXPECT_THAT(ForEachObject(env().store, "run/" + ToString(stream_->id()) + "/data/",
                              [&](const ListedObject&) -> Result<void> { return ++objects, Result<void>(); }),
                IsOk());
    return objects;
  }

  std::unique_ptr<LocalServer> server_;
  std::unique_ptr<OwnedEnv> env_;
  std::optional<Stream> stream_;
};

}  // namespace batchweave
