#include <gtest/gtest.h>

#include "batchweave/store/memory_store.h"
#include "batchweave/stream/stream.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/test_env.h"

namespace batchweave {
namespace {

// Whatever single request fails, before or after its effect: who was told that it created the stream created the one that
// all others open, and who was told of a failure creates it by asking again.
// Covers A1, A3, I1.
TEST(StreamCreateTest, AnySingleFailureLeavesOneStreamOrNone) {
  ForEachFailure([](const Fault& fault) {
    MemoryStore memory;
    TestEnv env;
    FaultyStore store(memory, fault);
    const Result<Stream> created = Stream::Create(env.Over(store), "run");
    const Result<Stream> opened = Stream::Open(env.Over(memory), "run", {.create = true});
    EXPECT_THAT(opened, IsOk());
    if (created.ok() && opened.ok()) {
      EXPECT_EQ(created->id(), opened->id());
    }
    EXPECT_THAT(Stream::Create(env.Over(memory), "run"), IsError(ErrorCode::kAlreadyExists));
    return store.fired();
  });
}

}  // namespace
}  // namespace batchweave
