#include "batchweave/log/manifest_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <utility>

#include "batchweave/store/memory_store.h"
#include "batchweave/store/metered_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/forwarding_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/stream_builder.h"
#include "batchweave/testing/test_env.h"
#include "batchweave/testing/torn_store.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

// A stream written by hand, and a log that reads it through a meter.
class ManifestLogTest : public ::testing::TestWithParam<bool> {
 protected:
  ManifestLog OpenLog() { return OpenLog(metered_); }
  ManifestLog OpenLog(ObjectStore& store) { return {env_.Over(store), stream_.keys(), stream_.stream_json_hash()}; }
  void CommitUntil(uint64_t version) {
    while (stream_.newest().version.value < version) stream_.Append({});
  }

  MemoryStore memory_{{.ordered_list = GetParam()}};
  MeteredStore metered_{memory_};
  StreamBuilder stream_{memory_};
  TestEnv env_;
};

// Covers E3.
INSTANTIATE_TEST_SUITE_P(ListOrder, ManifestLogTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "Ordered" : "Unordered"; });

TEST_P(ManifestLogTest, StreamWithoutCommitsIsAtVersionZero) {
  MemoryStore empty({.ordered_list = GetParam()});
  ManifestLog log = OpenLog(empty);
  EXPECT_THAT(log.FindNewest(), IsOkAndHolds(Version{0}));
  const Result<LoggedManifest> newest = log.ReadNewest();
  ASSERT_THAT(newest, IsOk());
  EXPECT_EQ(newest->hash, stream_.stream_json_hash());
  EXPECT_EQ(newest->manifest, EmptyManifest(stream_.keys().stream_id, stream_.stream_json_hash()));
}

TEST_P(ManifestLogTest, FindsTheNewestHoweverManyThereAre) {
  ManifestLog warm = OpenLog();
  for (uint64_t version = 1; version <= 40; ++version) {
    CommitUntil(version);
    EXPECT_THAT(OpenLog().FindNewest(), IsOkAndHolds(Version{version}));
    if (version % 7 != 0) continue;
    EXPECT_THAT(warm.FindNewest(), IsOkAndHolds(Version{version}));
  }
}

// What a gateway writes beside an object, another tool's mark, and what is nearly a version: before the newest and
// behind it.
TEST_P(ManifestLogTest, ForeignKeysAmongTheVersionsArePassedOver) {
  MemoryStore store({.ordered_list = GetParam()});
  const auto put_foreign = [&](std::string_view name) {
    const std::string key = fmt::format("{}{}", stream_.keys().ManifestPrefix(), name);
    ASSERT_THAT(PutBytes(store, key, AsBytes("foreign"), PutMode::kCreate), IsOk());
  };
  for (const char* name : {"-18446744073709551614.sgwtmp.17", "00", "1844674407370955161", "zz"}) put_foreign(name);
  EXPECT_THAT(OpenLog(store).FindNewest(), IsOkAndHolds(Version{0}));
  StreamBuilder stream(store);
  stream.Append({});
  EXPECT_THAT(OpenLog(store).FindNewest(), IsOkAndHolds(stream.newest().version));
  for (int i = 0; i < 1500; ++i) put_foreign(fmt::format("-many-{:04}", i));
  EXPECT_THAT(OpenLog(store).FindNewest(), IsOkAndHolds(stream.newest().version));
}

// A store without an order whose slots are occupied up to a version, and that counts who asks.
class OccupiedSlots : public ForwardingStore {
 public:
  OccupiedSlots(ObjectStore& store, const StreamKeys& keys) : ForwardingStore(store), keys_(keys) {}
  Result<uint64_t> Stat(std::string_view key) override {
    const std::optional<ParsedKey> parsed = ParseKey(keys_, key);
    probes += 1;
    if (parsed->version.value <= newest) return uint64_t{1};
    return Error{ErrorCode::kNotFound, "a free slot"};
  }
  uint64_t newest = 0;
  uint64_t probes = 0;

 private:
  const StreamKeys keys_;
};

TEST(FindNewestTest, FewProbesFindIt) {
  MemoryStore memory({.ordered_list = false});
  const StreamBuilder stream(memory);
  TestEnv env;
  OccupiedSlots slots(memory, stream.keys());
  const std::pair<uint64_t, uint64_t> cases[] = {
      {0, 4},     {1, 5},     {2, 6},        {6, 6},        {63, 9},
      {1000, 14}, {4095, 16}, {100'000, 22}, {1 << 24, 31}, {uint64_t{1} << 40, 48}};
  for (const auto& [newest, probes_max] : cases) {
    slots.newest = newest;
    slots.probes = 0;
    ManifestLog log(env.Over(slots), stream.keys(), stream.stream_json_hash());
    EXPECT_THAT(log.FindNewest(), IsOkAndHolds(Version{newest}));
    EXPECT_LE(slots.probes, probes_max) << newest;
    // Who knows it finds the next one sooner.
    for (const uint64_t added : {1, 2, 100}) {
      slots.newest += added;
      slots.probes = 0;
      EXPECT_THAT(log.FindNewest(), IsOkAndHolds(Version{slots.newest}));
      EXPECT_LE(slots.probes, newest > 0 && added < 3 ? 4u : 16u) << newest << " and " << added;
    }
  }
}

TEST(FindNewestTest, AStoreThatHasEveryVersionIsAnError) {
  MemoryStore memory({.ordered_list = false});
  const StreamBuilder stream(memory);
  TestEnv env;
  OccupiedSlots slots(memory, stream.keys());
  ManifestLog log(env.Over(slots), stream.keys(), stream.stream_json_hash());
  slots.newest = 5;
  EXPECT_THAT(log.FindNewest(), IsOkAndHolds(Version{5}));
  slots.newest = std::numeric_limits<uint64_t>::max();
  EXPECT_THAT(log.FindNewest(), IsError(ErrorCode::kCorrupt, HasSubstr("every version")));
  ManifestLog cold(env.Over(slots), stream.keys(), stream.stream_json_hash());
  EXPECT_THAT(cold.FindNewest(), IsError(ErrorCode::kCorrupt, HasSubstr("every version")));
}

TEST_P(ManifestLogTest, ReadsWhatWasCommittedWithItsLinkOfTheChain) {
  CommitUntil(3);
  ManifestLog log = OpenLog();
  const Result<LoggedManifest> newest = log.ReadNewest();
  ASSERT_THAT(newest, IsOk());
  EXPECT_EQ(newest->manifest, stream_.newest());
  EXPECT_EQ(newest->hash, stream_.newest_hash());
  EXPECT_EQ(log.ReadHead(Version{3})->hash, stream_.newest_hash());
}

TEST_P(ManifestLogTest, PlaceholderIsNotAVersion) {
  ASSERT_THAT(PutBytes(memory_, stream_.keys().ManifestPrefix() + "_", {}, PutMode::kCreate), IsOk());
  EXPECT_THAT(OpenLog().FindNewest(), IsOkAndHolds(Version{1}));
  CommitUntil(2);
  EXPECT_THAT(OpenLog().FindNewest(), IsOkAndHolds(Version{2}));
}

TEST_P(ManifestLogTest, RetiredVersionIsTrimmedAndTheNewestIsStillFound) {
  CommitUntil(5);
  stream_.Retire({1});
  stream_.Retire({2});
  ManifestLog log = OpenLog();
  EXPECT_THAT(log.Read({1}), IsError(ErrorCode::kTrimmed));
  EXPECT_THAT(log.ReadHead({2}), IsError(ErrorCode::kTrimmed));
  EXPECT_THAT(log.FindNewest(), IsOkAndHolds(Version{5}));
}

TEST_P(ManifestLogTest, VersionThatIsNotThereIsNotFound) {
  CommitUntil(1);
  EXPECT_THAT(OpenLog().Read({2}), IsError(ErrorCode::kNotFound));
  EXPECT_THAT(OpenLog().ReadHead({2}), IsError(ErrorCode::kNotFound));
}

TEST_P(ManifestLogTest, DeletedStreamIsNotFound) {
  CommitUntil(1);
  stream_.Delete();
  EXPECT_THAT(OpenLog().ReadNewest(), IsError(ErrorCode::kNotFound, HasSubstr("deleted")));
}

// While it is `early` its answers are of before the first commit, of which another thread hears meanwhile.
class LooksTooEarly : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override {
    if (!early) return base().List(prefix, start_after, limit);
    MeetAnother();
    return ListPage{};
  }
  Result<uint64_t> Stat(std::string_view key) override {
    if (!early) return base().Stat(key);
    MeetAnother();
    return Error{ErrorCode::kNotFound, "no such object"};
  }
  bool early = true;
  std::function<void()> another;

 private:
  void MeetAnother() {
    if (another) std::exchange(another, nullptr)();
  }
};

// Found by the simulator: of two producers that one process opened on a new stream, one was told that it was deleted.
TEST_P(ManifestLogTest, FirstVersionThatAnotherThreadSeesIsNoDeletion) {
  CommitUntil(1);
  LooksTooEarly store(memory_);
  ManifestLog log = OpenLog(store);
  store.another = [&] { EXPECT_THAT(log.Read(Version{1}), IsOk()); };
  for (const uint64_t version : {0u, 1u}) {
    const Result<LoggedManifest> newest = log.ReadNewest();
    ASSERT_THAT(newest, IsOk());
    EXPECT_EQ(newest->manifest.version, Version{version});
    store.early = false;
  }
}

TEST_P(ManifestLogTest, RefreshOfTheNewestIsOneRequest) {
  CommitUntil(3);
  ManifestLog log = OpenLog();
  LoggedManifest newest = *log.ReadNewest();
  const uint64_t before = metered_.usage().requests();
  ASSERT_THAT(log.Refresh(newest), IsOk());
  EXPECT_EQ(metered_.usage().requests() - before, 1u);
  CommitUntil(5);
  EXPECT_EQ(log.Refresh(newest)->manifest.version, Version{5});
}

TEST_P(ManifestLogTest, HeadIsReadInOneRange) {
  CommitUntil(300);
  ManifestLog log = OpenLog();
  const uint64_t before = metered_.usage().requests();
  ASSERT_THAT(log.ReadHead({300}), IsOk());
  EXPECT_EQ(metered_.usage().requests() - before, 1u);
}

TEST_P(ManifestLogTest, ManifestOfAnotherVersionInASlotIsCorrupt) {
  CommitUntil(2);
  const Bytes first = *memory_.Read(stream_.keys().Manifest({1}));
  ASSERT_THAT(PutBytes(memory_, stream_.keys().Manifest({2}), first, PutMode::kOverwrite), IsOk());
  EXPECT_THAT(OpenLog().Read({2}), IsError(ErrorCode::kCorrupt, HasSubstr("another stream or version")));
  EXPECT_THAT(OpenLog().ReadHead({2}), IsError(ErrorCode::kCorrupt));
}

TEST_P(ManifestLogTest, TruncatedManifestIsCorruptAndSaysWhich) {
  CommitUntil(1);
  const Bytes whole = *memory_.Read(stream_.keys().Manifest({1}));
  for (const size_t size : {size_t{0}, size_t{10}, whole.size() / 2, whole.size() - 1}) {
    ASSERT_THAT(PutBytes(memory_, stream_.keys().Manifest({1}), ByteView(whole).first(size), PutMode::kOverwrite),
                IsOk());
    EXPECT_THAT(OpenLog().ReadNewest(), IsError(ErrorCode::kCorrupt)) << size;
  }
}

// Covers M18.
TEST_P(ManifestLogTest, TombstoneBetweenHeadAndRestMeansToFindTheNewest) {
  CommitUntil(3);
  const auto retire_while_others_commit = [&] {
    CommitUntil(70);
    stream_.Retire({3});
  };
  TornStore store(memory_,
                  {.key = stream_.keys().Manifest({3}), .at_bytes = 200, .between = retire_while_others_commit});
  ManifestLog log = OpenLog(store);
  EXPECT_EQ(log.ReadNewest()->manifest, stream_.newest());
  EXPECT_TRUE(store.torn());
}

// Covers M18.
TEST_P(ManifestLogTest, VersionThatIsRetiredWhileItIsReadIsTrimmed) {
  CommitUntil(3);
  TornStore whole(memory_,
                  {.key = stream_.keys().Manifest({2}), .at_bytes = 200, .between = [&] { stream_.Retire({2}); }});
  EXPECT_THAT(OpenLog(whole).Read({2}), IsError(ErrorCode::kTrimmed));
  EXPECT_TRUE(whole.torn());
}

// Its entry alone is longer than what is asked for first.
// Covers M18.
TEST_P(ManifestLogTest, LongHeadThatIsRetiredBetweenItsTwoReadsIsTrimmed) {
  TestBatch batch{.grid = {.dp = 500, .cp = 1}, .slice_bytes = {8}};
  for (uint32_t dp = 0; dp < 500; ++dp) batch.parts.push_back({dp, 1, 0, 1});
  stream_.Append(batch);
  const Version version = stream_.newest().version;
  TornStore store(memory_, {.key = stream_.keys().Manifest(version), .between = [&] { stream_.Retire(version); }});
  EXPECT_THAT(OpenLog(store).ReadHead(version), IsError(ErrorCode::kTrimmed));
  EXPECT_TRUE(store.torn());
}

// A version is reached by any single failure of a request, or the failure is told: never a wrong version.
// Covers I12.
TEST_P(ManifestLogTest, FailedRequestIsAnErrorAndNeverAWrongVersion) {
  CommitUntil(9);
  ForEachFailure([&](const Fault& fault) {
    FaultyStore store(memory_, fault);
    ManifestLog log = OpenLog(store);
    const Result<LoggedManifest> newest = log.ReadNewest();
    EXPECT_TRUE(newest.ok() ? newest->manifest.version == Version{9} : newest.error().code == ErrorCode::kUnavailable);
    return store.fired();
  });
}

}  // namespace
}  // namespace batchweave
