#include "batchweave/store/node_cache_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "batchweave/base/threads.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/store/metered_store.h"
#include "batchweave/testing/child_process.h"
#include "batchweave/testing/corrupting_store.h"
#include "batchweave/testing/forwarding_store.h"
#include "batchweave/testing/manual_clock.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/seeded_random.h"
#include "batchweave/testing/temporary_directory.h"

namespace batchweave {
namespace {

using ::testing::Each;

constexpr const char* kKey = "run/id/data/a";
constexpr const char* kVersion = "run/id/manifest/1";

bool IsData(std::string_view key) { return key.find("/data/") != std::string_view::npos; }

// Takes down what it is told.
class Recorder final : public ReadObserver {
 public:
  void OnBytes(ByteView piece) override { text += AsText(piece); }
  void OnRestart() override { text.clear(); }
  std::string text;
};

// One process of the host, as far as the cache can tell.
struct Rank {
  MeteredStore* asked;
  std::unique_ptr<NodeCacheStore> store;

  Result<std::string> Read(std::string_view key, uint64_t offset = 0, size_t size = 4, bool asks_again = false) const {
    std::string text(size, '?');
    Recorder recorder;
    ReadRequest request{.key = key,
                        .offset = offset,
                        .buffer = std::as_writable_bytes(std::span(text)),
                        .observer = &recorder,
                        .step = 1,
                        .asks_again = asks_again};
    BW_TRY(store->Get({&request, 1}));
    text.resize(request.received_bytes);
    EXPECT_EQ(recorder.text, text);
    return text;
  }
  Result<std::string> Poll(std::string_view key = kVersion) const { return Read(key, 0, 4, /*asks_again=*/true); }
};

// Takes so long for a read that all others have come meanwhile, as a rule.
class SlowStore final : public ForwardingStore {
 public:
  SlowStore(ObjectStore& base, Clock& clock) : ForwardingStore(base), clock_(clock) {}
  Result<void> Get(std::span<ReadRequest> requests) override {
    clock_.SleepUntil(After(clock_.Now(), std::chrono::milliseconds(50)));
    return base().Get(requests);
  }

 private:
  Clock& clock_;
};

class NodeCacheStoreTest : public ::testing::Test {
 protected:
  Rank Join(ObjectStore& base, Clock& clock, NodeCacheStore::Waits waits = {}, const std::string& identity = "store") {
    auto metered = std::make_unique<MeteredStore>(base);
    MeteredStore* const asked = metered.get();
    auto cache = NodeCache::Open({.dir = dir_}, clock).value();
    return {.asked = asked,
            .store = std::make_unique<NodeCacheStore>(std::move(metered), std::move(cache), identity, IsData, clock,
                                                      random_, waits)};
  }
  Rank Join() { return Join(memory_, clock_); }

  void Write(std::string_view key, std::string_view text) {
    ASSERT_THAT(PutBytes(memory_, key, AsBytes(text), PutMode::kOverwrite), IsOk());
  }

  const TemporaryDirectory parent_{"/dev/shm"};
  const std::string dir_ = parent_.path() + "/cache";
  MemoryStore memory_;
  ManualClock clock_;
  SeededRandom random_{1};
};

TEST_F(NodeCacheStoreTest, EachRangeOfAHostIsReadOnce) {
  Write(kKey, "0123456789");
  const Rank one = Join();
  const Rank two = Join();
  EXPECT_THAT(one.Read(kKey, 2), IsOkAndHolds("2345"));
  EXPECT_THAT(two.Read(kKey, 2), IsOkAndHolds("2345"));
  EXPECT_THAT(two.Read(kKey, 6), IsOkAndHolds("6789"));
  EXPECT_THAT(one.Read(kKey, 6), IsOkAndHolds("6789"));
  EXPECT_THAT(two.Read(kKey, 8), IsOkAndHolds("89"));  // The object ends within it.
  EXPECT_THAT(one.Read(kKey, 8), IsOkAndHolds("89"));
  EXPECT_EQ(one.asked->usage().range_gets, 1u);
  EXPECT_EQ(two.asked->usage().range_gets, 2u);
  EXPECT_EQ(two.store->stats().found, 1u);
}

TEST_F(NodeCacheStoreTest, AWholeObjectIsReadOnceToo) {
  Write(kKey, "0123456789");
  const Rank one = Join();
  const Rank two = Join();
  EXPECT_EQ(AsText(one.store->Read(kKey).value()), "0123456789");
  EXPECT_EQ(AsText(two.store->Read(kKey).value()), "0123456789");
  EXPECT_EQ(two.asked->usage().requests(), 0u);
}

TEST_F(NodeCacheStoreTest, OfSeveralRangesOnlyThoseThatAreMissingAreAskedFor) {
  Write(kKey, "0123456789");
  Write("run/id/progress/g", "step 1");
  ASSERT_THAT(Join().Read(kKey, 0), IsOk());
  const Rank rank = Join();
  std::array<std::string, 3> texts = {"????", "????", "????"};
  std::vector<ReadRequest> requests;
  for (size_t i = 0; i < texts.size(); ++i) {
    requests.push_back({.key = i == 1 ? "run/id/progress/g" : kKey,
                        .offset = i,
                        .buffer = std::as_writable_bytes(std::span(texts[i])),
                        .step = 1});
  }
  ASSERT_THAT(rank.store->Get(requests), IsOk());
  EXPECT_THAT(texts, ::testing::ElementsAre("0123", "tep ", "2345"));
  EXPECT_EQ(rank.asked->usage().range_gets, 2u);
  for (const ReadRequest& request : requests) EXPECT_EQ(request.received_bytes, 4u);
}

TEST_F(NodeCacheStoreTest, WhatMayChangeComesFromTheStore) {
  Write(kVersion, "old1");
  ASSERT_THAT(Join().Read(kVersion), IsOkAndHolds("old1"));
  ASSERT_THAT(Join().Poll(), IsOkAndHolds("old1"));
  Write(kVersion, "new2");
  EXPECT_THAT(Join().Read(kVersion), IsOkAndHolds("new2"));
  EXPECT_EQ(AsText(Join().store->Read(kVersion).value()), "new2");
  // Who follows takes what another saw: a version is what it was, or a tombstone.
  EXPECT_THAT(Join().Poll(), IsOkAndHolds("old1"));
}

TEST_F(NodeCacheStoreTest, ADamagedCopyIsReadAnewAndReplaced) {
  Write(kKey, "0123456789");
  ASSERT_THAT(Join().Read(kKey), IsOk());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_)) {
    const bool is_copy = entry.is_regular_file() && entry.path().filename().string().size() > 50;
    if (is_copy) std::filesystem::resize_file(entry.path(), entry.file_size() - 1);
  }
  const Rank rank = Join();
  EXPECT_THAT(rank.Read(kKey), IsOkAndHolds("0123"));
  EXPECT_EQ(rank.asked->usage().range_gets, 1u);
  const Rank next = Join();
  EXPECT_THAT(next.Read(kKey), IsOkAndHolds("0123"));
  EXPECT_EQ(next.asked->usage().range_gets, 0u);
}

// The bytes were altered on their way from the store, so that their checksum is that of altered bytes.
TEST_F(NodeCacheStoreTest, WhoAsksAgainGetsNoCopyASecondTime) {
  Write(kKey, "0123456789");
  CorruptingStore corrupting(memory_, {.kind = Corruption::Kind::kFlip, .position = 0, .reads = 1});
  const Rank first = Join(corrupting, clock_);
  EXPECT_THAT(first.Read(kKey), IsOkAndHolds("1123"));
  const Rank second = Join();
  EXPECT_THAT(second.Read(kKey), IsOkAndHolds("1123"));
  EXPECT_THAT(second.Read(kKey), IsOkAndHolds("0123"));
  EXPECT_THAT(first.Read(kKey), IsOkAndHolds("0123"));
  EXPECT_THAT(Join().Read(kKey), IsOkAndHolds("0123"));
}

TEST_F(NodeCacheStoreTest, CopiesOfOneStreamInTwoStoresAreKeptApart) {
  Write(kKey, "here");
  MemoryStore other;
  ASSERT_THAT(PutBytes(other, kKey, AsBytes("then"), PutMode::kCreate), IsOk());
  ASSERT_THAT(Join().Read(kKey), IsOkAndHolds("here"));
  EXPECT_THAT(Join(other, clock_, {}, "other").Read(kKey), IsOkAndHolds("then"));
}

TEST_F(NodeCacheStoreTest, WithoutADirectoryEachReadsFromTheStore) {
  Write(kKey, "0123456789");
  const Rank one = Join();
  const Rank two = Join();
  std::filesystem::remove_all(dir_);
  for (const Rank* rank : {&one, &two}) {
    EXPECT_THAT(rank->Read(kKey), IsOkAndHolds("0123"));
    EXPECT_THAT(rank->Poll(), IsError(ErrorCode::kNotFound));
    EXPECT_EQ(rank->asked->usage().range_gets, 2u);
  }
  EXPECT_EQ(one.store->stats().not_kept, 1u);
}

TEST_F(NodeCacheStoreTest, OfThoseWhoReadTheSameAtOnceOneAsksTheStore) {
  constexpr int kRanks = 8;
  SystemClock clock;
  Write(kKey, "0123456789");
  SlowStore slow(memory_, clock);
  std::vector<Rank> ranks;
  for (int i = 0; i < kRanks; ++i) ranks.push_back(Join(slow, clock, {.other_max = std::chrono::minutes(2)}));
  std::vector<Result<std::string>> read(kRanks, std::string());
  {
    std::vector<std::unique_ptr<Thread>> threads;
    SystemThreads system;
    for (size_t i = 0; i < kRanks; ++i) {
      threads.push_back(system.Start("rank", [&, i] { read[i] = ranks[i].Read(kKey); }));
    }
  }
  uint64_t asked = 0;
  for (const Rank& rank : ranks) asked += rank.asked->usage().range_gets;
  EXPECT_THAT(read, Each(IsOkAndHolds("0123")));
  EXPECT_EQ(asked, 1u);
}

TEST_F(NodeCacheStoreTest, OneWhoNeverComesBackIsWaitedForALittle) {
  Write(kKey, "0123456789");
  const Rank rank = Join();
  ChildProcess holder([&] {
    class Stopping final : public ObjectStore {
     public:
      Result<void> Get(std::span<ReadRequest>) override { return raise(SIGSTOP), Result<void>(); }
      Result<void> Put(std::string_view, std::span<const ByteView>, PutMode) override { return {}; }
      Result<Bytes> Read(std::string_view) override { return Bytes(); }
      Result<uint64_t> Stat(std::string_view) override { return uint64_t{0}; }
      Result<ListPage> List(std::string_view, std::string_view, size_t) override { return ListPage(); }
      Result<void> Delete(std::span<const std::string>) override { return {}; }
      StoreTraits traits() const override { return {}; }
    } stopping;
    return Join(stopping, clock_).Read(kKey).ok();
  });
  ASSERT_TRUE(holder.AwaitStopped());
  const TimePoint begun = clock_.Now();
  EXPECT_THAT(rank.Read(kKey), IsOkAndHolds("0123"));
  EXPECT_EQ(rank.asked->usage().range_gets, 1u);
  EXPECT_GE(clock_.Now() - begun, NodeCacheStore::Waits{}.other_max);
  EXPECT_LT(clock_.Now() - begun, NodeCacheStore::Waits{}.other_max + std::chrono::seconds(1));
}

TEST_F(NodeCacheStoreTest, OneLooksForTheNextVersionForAll) {
  const auto absent = IsError(ErrorCode::kNotFound);
  const Rank one = Join();
  const Rank two = Join();
  const Rank three = Join();
  // Who never looked before has to.
  for (const Rank* rank : {&one, &two, &three}) EXPECT_THAT(rank->Poll(), absent);
  constexpr int kLooks = 20;
  for (int i = 0; i < kLooks; ++i) {
    for (const Rank* rank : {&one, &two, &three}) EXPECT_THAT(rank->Poll(), absent);
    clock_.Advance(std::chrono::milliseconds(500));
  }
  uint64_t asked = 0;
  for (const Rank* rank : {&one, &two, &three}) asked += rank->asked->usage().range_gets;
  EXPECT_LE(asked, 3u + kLooks);
  Write(kVersion, "vers");
  // At the next look, or the one after, and of the store by one.
  for (int i = 0; i < 2; ++i) {
    for (const Rank* rank : {&one, &two, &three}) static_cast<void>(rank->Poll());
  }
  EXPECT_EQ(one.store->stats().found + two.store->stats().found + three.store->stats().found, 2u);
}

TEST_F(NodeCacheStoreTest, NotThereIsNoOlderThanTheLastLook) {
  const Rank one = Join();
  const Rank two = Join();
  ASSERT_THAT(one.Poll(), IsError(ErrorCode::kNotFound));
  ASSERT_THAT(two.Poll(), IsError(ErrorCode::kNotFound));
  Write(kVersion, "vers");
  // Nobody has asked since.
  EXPECT_THAT(two.Poll(), IsOkAndHolds("vers"));

  ASSERT_THAT(one.Poll("run/id/manifest/2"), IsError(ErrorCode::kNotFound));
  ASSERT_THAT(two.Poll("run/id/manifest/2"), IsError(ErrorCode::kNotFound));
  ASSERT_THAT(one.Poll("run/id/manifest/2"), IsError(ErrorCode::kNotFound));
  Write("run/id/manifest/2", "next");
  // It was a moment ago; but not for one who last looked long ago.
  clock_.Advance(std::chrono::seconds(10));
  EXPECT_THAT(two.Poll("run/id/manifest/2"), IsOkAndHolds("next"));
}

TEST_F(NodeCacheStoreTest, WithoutBeingAskedToNotThereComesFromTheStore) {
  const Rank one = Join();
  const Rank two = Join();
  ASSERT_THAT(two.Poll(), IsError(ErrorCode::kNotFound));
  ASSERT_THAT(one.Poll(), IsError(ErrorCode::kNotFound));
  Write(kVersion, "vers");
  EXPECT_THAT(two.Read(kVersion), IsOkAndHolds("vers"));
}

}  // namespace
}  // namespace batchweave
