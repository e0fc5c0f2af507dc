#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchweave/store/memory_store.h"
#include "batchweave/stream/stream.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/stream_builder.h"
#include "batchweave/testing/test_env.h"

namespace batchweave {
namespace {

// Covers I1, I2.
TEST(SealTest, WhicheverCallFailsTheStreamIsSealedOnceAndKeepsItsSteps) {
  ForEachFailure([](const Fault& fault) {
    MemoryStore memory;
    StreamBuilder builder(memory);
    builder.Append({});
    const Version before = builder.newest().version;
    TestEnv env;
    FaultyStore store(memory, fault);
    Result<Stream> opened = Stream::Open(env.Over(store), "run");
    const bool said_sealed = opened.ok() && opened->Seal().ok();
    Stream looked = Stream::Open(env.Over(memory), "run").value();
    const Manifest newest = looked.log().ReadNewest().value().manifest;
    EXPECT_EQ(newest.version, newest.sealed ? Next(before) : before);
    EXPECT_TRUE(newest.sealed || !said_sealed);
    EXPECT_THAT(looked.Seal(), IsOkAndHolds(Step{1}));
    EXPECT_EQ(looked.log().ReadNewest().value().manifest.version, Next(before));
    return store.fired();
  });
}

}  // namespace
}  // namespace batchweave
