#include "batchweave/store/metered_store.h"

#include <gtest/gtest.h>

#include "batchweave/store/memory_store.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

TEST(MeteredStoreTest, CountsEachKindOfRequest) {
  MemoryStore memory;
  MeteredStore store(memory);
  ASSERT_THAT(PutBytes(store, "a", AsBytes("12345"), PutMode::kCreate), IsOk());
  ASSERT_THAT(PutBytes(store, "a", AsBytes("123"), PutMode::kOverwrite), IsOk());
  ASSERT_THAT(store.Read("a"), IsOk());
  ASSERT_THAT(store.Stat("a"), IsOk());
  ASSERT_THAT(store.List("", "", 10), IsOk());
  const std::vector<std::string> keys = {"a", "b"};
  ASSERT_THAT(store.Delete(keys), IsOk());
  EXPECT_EQ(store.usage(), (StoreUsage{.reads = 1,
                                       .creates = 1,
                                       .overwrites = 1,
                                       .stats = 1,
                                       .lists = 1,
                                       .deletes = 1,
                                       .deleted_keys = 2,
                                       .bytes_read = 3,
                                       .bytes_written = 8}));
  EXPECT_EQ(store.usage().requests(), 6u);
}

TEST(MeteredStoreTest, CountsEveryRangeAndTheBytesThatCame) {
  MemoryStore memory;
  MeteredStore store(memory);
  ASSERT_THAT(PutBytes(memory, "a", AsBytes("12345"), PutMode::kCreate), IsOk());
  Bytes buffer(4);
  std::vector<ReadRequest> requests(2, ReadRequest{.key = "a", .buffer = buffer});
  requests[1].offset = 3;
  ASSERT_THAT(store.Get(requests), IsOk());
  EXPECT_EQ(store.usage(), (StoreUsage{.range_gets = 2, .bytes_read = 6}));
}

TEST(MeteredStoreTest, RequestsThatFailCountWithoutBytes) {
  MemoryStore memory;
  MeteredStore store(memory);
  ASSERT_THAT(PutBytes(memory, "a", AsBytes("12345"), PutMode::kCreate), IsOk());
  EXPECT_THAT(PutBytes(store, "a", AsBytes("12345"), PutMode::kCreate), IsError(ErrorCode::kAlreadyExists));
  EXPECT_THAT(store.Read("b"), IsError(ErrorCode::kNotFound));
  EXPECT_EQ(store.usage(), (StoreUsage{.reads = 1, .creates = 1}));
}

TEST(MeteredStoreTest, TwoSnapshotsTellWhatCameBetween) {
  MemoryStore memory;
  MeteredStore store(memory);
  ASSERT_THAT(PutBytes(store, "a", AsBytes("12345"), PutMode::kCreate), IsOk());
  const StoreUsage before = store.usage();
  ASSERT_THAT(store.Stat("a"), IsOk());
  EXPECT_EQ(store.usage() - before, (StoreUsage{.stats = 1}));
}

TEST(MeteredStoreTest, CountsOnlyTheKeysItIsAskedTo) {
  MemoryStore memory;
  MeteredStore store(memory, "/data/");
  ASSERT_THAT(PutBytes(store, "x/manifest/1", AsBytes("12345"), PutMode::kCreate), IsOk());
  ASSERT_THAT(PutBytes(store, "x/data/1", AsBytes("123"), PutMode::kCreate), IsOk());
  EXPECT_EQ(store.usage(), (StoreUsage{.creates = 1, .bytes_written = 3}));
}

}  // namespace
}  // namespace batchweave
