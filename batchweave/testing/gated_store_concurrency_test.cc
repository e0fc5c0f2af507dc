#include "batchweave/testing/gated_store.h"

#include <gtest/gtest.h>

#include <thread>

#include "batchweave/store/memory_store.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

Result<void> Create(ObjectStore& store, std::string_view key) {
  return PutBytes(store, key, AsBytes("x"), PutMode::kCreate);
}

TEST(GatedStoreTest, HoldsACallBeforeItsEffect) {
  MemoryStore memory;
  GatedStore store(memory);
  store.Close({.calls = kCallCreate});
  std::thread caller([&] { EXPECT_THAT(Create(store, "a"), IsOk()); });
  store.AwaitHeld();
  EXPECT_THAT(store.Stat("a"), IsError(ErrorCode::kNotFound));
  store.Release();
  caller.join();
  EXPECT_THAT(store.Stat("a"), IsOk());
}

TEST(GatedStoreTest, HoldsACallAfterItsEffect) {
  MemoryStore memory;
  GatedStore store(memory);
  store.Close({.key = KeyContains("a")}, GatedStore::Hold::kAfterEffect);
  std::thread caller([&] { EXPECT_THAT(Create(store, "a"), IsOk()); });
  store.AwaitHeld();
  EXPECT_THAT(memory.Stat("a"), IsOk());
  EXPECT_THAT(Create(store, "b"), IsOk());
  store.Open();
  caller.join();
}

TEST(GatedStoreTest, LetsAsManyGoAsItIsTold) {
  MemoryStore memory;
  GatedStore store(memory);
  store.Close({.calls = kCallCreate});
  std::thread one([&] { EXPECT_THAT(Create(store, "1"), IsOk()); });
  std::thread two([&] { EXPECT_THAT(Create(store, "2"), IsOk()); });
  store.AwaitHeld(2);
  store.Release(1);
  store.Open();
  one.join();
  two.join();
  EXPECT_EQ(memory.List("", "", 10)->objects.size(), 2u);
}

}  // namespace
}  // namespace batchweave
