#include "batchweave/testing/faulty_store.h"

#include <gtest/gtest.h>

#include <vector>

#include "batchweave/store/memory_store.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

Result<void> Create(ObjectStore& store, std::string_view key) {
  return PutBytes(store, key, AsBytes("x"), PutMode::kCreate);
}

TEST(FaultyStoreTest, FailsTheNthCallOnly) {
  MemoryStore memory;
  FaultyStore store(memory, {.fail_call = 2, .code = ErrorCode::kDenied});
  EXPECT_THAT(Create(store, "a"), IsOk());
  EXPECT_FALSE(store.fired());
  EXPECT_THAT(Create(store, "b"), IsError(ErrorCode::kDenied));
  EXPECT_TRUE(store.fired());
  EXPECT_THAT(memory.Stat("b"), IsError(ErrorCode::kNotFound));
  EXPECT_THAT(Create(store, "b"), IsOk());
}

TEST(FaultyStoreTest, AfterItsEffectTheAnswerIsLost) {
  MemoryStore memory;
  FaultyStore store(memory, {.fail_call = 1, .when = FaultWhen::kAfter, .code = ErrorCode::kUnknownOutcome});
  EXPECT_THAT(Create(store, "a"), IsError(ErrorCode::kUnknownOutcome));
  EXPECT_THAT(memory.Stat("a"), IsOk());
}

TEST(FaultyStoreTest, ALaterEffectComesWhenTold) {
  MemoryStore memory;
  FaultyStore store(memory, {.fail_call = 1, .when = FaultWhen::kLater, .code = ErrorCode::kUnknownOutcome});
  EXPECT_THAT(Create(store, "a"), IsError(ErrorCode::kUnknownOutcome));
  EXPECT_THAT(memory.Stat("a"), IsError(ErrorCode::kNotFound));
  store.ApplyDelayed();
  EXPECT_THAT(memory.Stat("a"), IsOk());
}

TEST(FaultyStoreTest, CountsOnlyTheCallsThatAreMeant) {
  MemoryStore memory;
  FaultyStore store(memory, {.fail_call = 1,
                             .calls = Fault::kAllCalls,
                             .filter = {.calls = kCallCreate | kCallStat, .key = KeyContains("data/")}});
  EXPECT_THAT(Create(store, "manifest/1"), IsOk());
  EXPECT_THAT(store.Read("data/1"), IsError(ErrorCode::kNotFound));
  EXPECT_EQ(store.calls(), 0u);
  EXPECT_THAT(Create(store, "data/1"), IsError(ErrorCode::kUnavailable));
  EXPECT_THAT(store.Stat("data/1"), IsError(ErrorCode::kUnavailable));
  EXPECT_EQ(store.calls(), 2u);
}

TEST(FaultyStoreTest, AReadIsNeverOfUnknownOutcome) {
  MemoryStore memory;
  FaultyStore store(memory, {.fail_call = 1, .when = FaultWhen::kAfter, .code = ErrorCode::kUnknownOutcome});
  EXPECT_THAT(store.Read("a"), IsError(ErrorCode::kUnavailable));
}

TEST(ForEachFailureTest, FailsEachCallOfAnOperationInEachWay) {
  std::vector<size_t> failed;
  ForEachFailure([&](const Fault& fault) {
    MemoryStore memory;
    FaultyStore store(memory, fault);
    const bool passed = Create(store, "a").ok() && Create(store, "b").ok();
    EXPECT_NE(passed, store.fired());
    failed.push_back(fault.fail_call);
    return store.fired();
  });
  EXPECT_EQ(failed, (std::vector<size_t>{1, 2, 3, 1, 2, 3, 1, 2, 3}));
}

}  // namespace
}  // namespace batchweave
