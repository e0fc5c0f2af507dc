#include "batchweave/store/store_probe.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "batchweave/store/local_store.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/corrupting_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/leftover_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/temporary_directory.h"
#include "batchweave/testing/test_env.h"
#include "batchweave/testing/throttling_store.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Breaks one rule and keeps the others.
class LyingStore final : public ObjectStore {
 public:
  enum class Lie {
    kOverwritesOnCreate,
    kIgnoresSecondCreate,
    kIgnoresRanges,
    kKeepsOnOverwrite,
    kListsNothing,
    kListsNoEnd,
    kKeepsOnDelete,
    kSaysThatAllExists,
    kReadsStaleOnce,
    kMissesOnce
  };
  explicit LyingStore(Lie lie) : lie_(lie) {}

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override {
    if (lie_ == Lie::kOverwritesOnCreate) mode = PutMode::kOverwrite;
    if (lie_ == Lie::kKeepsOnOverwrite && mode == PutMode::kOverwrite) return {};
    if (lie_ == Lie::kSaysThatAllExists) return Error{ErrorCode::kAlreadyExists, "exists"};
    if (mode == PutMode::kOverwrite) stale_ = memory_.Read(key);
    Result<void> put = memory_.Put(key, pieces, mode);
    if (lie_ == Lie::kIgnoresSecondCreate && FailedWith(put, ErrorCode::kAlreadyExists)) return {};
    return put;
  }
  Result<void> Get(std::span<ReadRequest> requests) override {
    for (ReadRequest& request : requests) {
      if (lie_ == Lie::kIgnoresRanges) request.offset = 0;
    }
    return memory_.Get(requests);
  }
  Result<Bytes> Read(std::string_view key) override {
    const bool is_first = reads_++ == 0;
    if (lie_ == Lie::kMissesOnce && is_first) return Error{ErrorCode::kNotFound, "not found"};
    if (lie_ == Lie::kReadsStaleOnce && stale_) return *std::exchange(stale_, std::nullopt);
    return memory_.Read(key);
  }
  Result<uint64_t> Stat(std::string_view key) override { return memory_.Stat(key); }
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override {
    if (lie_ == Lie::kListsNothing) return ListPage{};
    if (lie_ == Lie::kListsNoEnd) return ListPage{.objects = {}, .next_start_after = "again"};
    return memory_.List(prefix, start_after, limit);
  }
  Result<void> Delete(std::span<const std::string> keys) override {
    return lie_ == Lie::kKeepsOnDelete ? Result<void>() : memory_.Delete(keys);
  }
  StoreTraits traits() const override { return memory_.traits(); }

 private:
  const Lie lie_;
  MemoryStore memory_;
  int reads_ = 0;
  std::optional<Result<Bytes>> stale_{};  // What lay there before the last overwrite, until it is read.
};

// Something on the way sends each create twice.
class RepeatingStore final : public ObjectStore {
 public:
  enum class When { kAtOnce, kAfterDelete };
  RepeatingStore(ObjectStore& base, When when) : base_(base), when_(when) {}

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override {
    Result<void> put = base_.Put(key, pieces, mode);
    if (mode == PutMode::kOverwrite) return put;
    if (when_ == When::kAtOnce) return base_.Put(key, pieces, mode);
    late_.emplace_back(pieces.front().begin(), pieces.front().end());
    return put;
  }
  // What was late lands, one after each.
  Result<void> Delete(std::span<const std::string> keys) override {
    BW_TRY(base_.Delete(keys));
    if (late_.empty()) return {};
    const Bytes bytes = late_.back();
    late_.pop_back();
    return PutBytes(base_, keys.front(), bytes, PutMode::kCreate);
  }
  Result<void> Get(std::span<ReadRequest> requests) override { return base_.Get(requests); }
  Result<Bytes> Read(std::string_view key) override { return base_.Read(key); }
  Result<uint64_t> Stat(std::string_view key) override { return base_.Stat(key); }
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override {
    return base_.List(prefix, start_after, limit);
  }
  StoreTraits traits() const override { return base_.traits(); }

 private:
  ObjectStore& base_;
  const When when_;
  std::vector<Bytes> late_;
};

Result<void> Probe(ObjectStore& store) { return ProbeStore(TestEnv().Over(store), "run/probe/1/"); }

TEST(StoreProbeTest, PassesGoodStoresAndLeavesNothing) {
  MemoryStore ordered;
  MemoryStore unordered({.ordered_list = false});
  const TemporaryDirectory directory;
  const std::unique_ptr<ObjectStore> local = LocalStore::Open(directory.path()).value();
  for (ObjectStore* store : {static_cast<ObjectStore*>(&ordered), static_cast<ObjectStore*>(&unordered), local.get()}) {
    EXPECT_THAT(Probe(*store), IsOk());
    EXPECT_THAT(store->List("", "", 10)->objects, IsEmpty());
  }
}

// A gateway that died while it overwrote the probe's object.
TEST(StoreProbeTest, ForeignKeysBesideItsOwnAreNotTheProbes) {
  MemoryStore memory;
  LeftoverStore store(memory, "run/probe/1/.object.sgwtmp.17");
  EXPECT_THAT(Probe(store), IsOk());
  EXPECT_THAT(memory.List("", "", 10)->objects, IsEmpty());
}

TEST(StoreProbeTest, NamesTheRuleThatAStoreBreaks) {
  using Lie = LyingStore::Lie;
  const std::pair<Lie, const char*> cases[] = {{Lie::kOverwritesOnCreate, "create-only put"},
                                               {Lie::kIgnoresSecondCreate, "create-only put"},
                                               {Lie::kIgnoresRanges, "ranged reads"},
                                               {Lie::kKeepsOnOverwrite, "overwrite"},
                                               {Lie::kListsNothing, "lists"},
                                               {Lie::kListsNoEnd, "no end"},
                                               {Lie::kKeepsOnDelete, "delete"},
                                               {Lie::kSaysThatAllExists, "create-only put"}};
  for (const auto& [lie, rule] : cases) {
    LyingStore store(lie);
    EXPECT_THAT(Probe(store), IsError(ErrorCode::kUnsuitableStore, HasSubstr(rule)));
  }
}

// What it tells once it may tell a reader of the log.
TEST(StoreProbeTest, StaleOrAbsentContentIsBelievedAtFirstSight) {
  LyingStore stale(LyingStore::Lie::kReadsStaleOnce);
  EXPECT_THAT(Probe(stale), IsError(ErrorCode::kUnsuitableStore, HasSubstr("overwrite")));
  LyingStore absent(LyingStore::Lie::kMissesOnce);
  EXPECT_THAT(Probe(absent), IsError(ErrorCode::kUnsuitableStore, HasSubstr("every acknowledged write")));
}

// Covers F2, F3.
TEST(StoreProbeTest, DamageOnTheWayIsNotTheStores) {
  for (const auto kind : {Corruption::Kind::kShort, Corruption::Kind::kEmpty, Corruption::Kind::kFlip}) {
    for (const StoreCall call : {kCallRead, kCallGet}) {
      MemoryStore memory;
      CorruptingStore store(memory, {.kind = kind, .reads = 7, .filter = {.calls = call}});
      EXPECT_THAT(Probe(store), IsOk());
      EXPECT_EQ(store.corrupted(), 7u);
      EXPECT_THAT(memory.List("", "", 10)->objects, IsEmpty());
    }
  }
}

// Covers F2, F3.
TEST(StoreProbeTest, RefusesAStoreThatAlwaysCutsOrAltersBodies) {
  for (const auto kind : {Corruption::Kind::kShort, Corruption::Kind::kEmpty, Corruption::Kind::kFlip}) {
    for (const auto& [call, rule] :
         {std::pair{kCallGet, "ranged reads"}, std::pair{kCallRead, "it holds other bytes"}}) {
      MemoryStore memory;
      CorruptingStore store(memory, {.kind = kind, .filter = {.calls = call}});
      EXPECT_THAT(Probe(store), IsError(ErrorCode::kUnsuitableStore, HasSubstr(rule)));
      EXPECT_THAT(memory.List("", "", 10)->objects, IsEmpty());
    }
  }
}

// Covers A4, A5.
TEST(StoreProbeTest, ACreateThatIsDeliveredTwiceIsNoBrokenRule) {
  for (const auto when : {RepeatingStore::When::kAtOnce, RepeatingStore::When::kAfterDelete}) {
    MemoryStore memory;
    RepeatingStore store(memory, when);
    EXPECT_THAT(Probe(store), IsOk());
    EXPECT_THAT(memory.List("", "", 10)->objects, IsEmpty());
  }
}

// Covers E5.
TEST(StoreProbeTest, AStoreThatTakesOneWriteASecondOfAKeyIsWaitedFor) {
  for (const ErrorCode refusal : {ErrorCode::kUnavailable, ErrorCode::kUnknownOutcome}) {
    MemoryStore memory;
    TestEnv env;
    ThrottlingStore store(memory, env.clock, refusal);
    const TimePoint begin = env.clock.Now();
    EXPECT_THAT(ProbeStore(env.Over(store), "run/probe/1/"), IsOk());
    EXPECT_GT(store.refused(), 0u);
    EXPECT_LT(env.clock.Now(), After(begin, std::chrono::seconds(30)));
    EXPECT_THAT(memory.List("", "", 10)->objects, IsEmpty());
  }
}

TEST(StoreProbeTest, AStoreThatRefusesEveryWriteIsGivenUp) {
  for (const ErrorCode refusal : {ErrorCode::kUnavailable, ErrorCode::kUnknownOutcome}) {
    MemoryStore memory;
    FaultyStore store(memory, {.fail_call = 1, .calls = Fault::kAllCalls, .code = refusal, .filter = {kCallWrite}});
    EXPECT_THAT(Probe(store), IsError(ErrorCode::kUnavailable));
    EXPECT_LE(store.calls(), 20u) << "ten tries of the first write and of the cleaning up";
  }
}

// A store that is down for a moment, or loses an answer, is not for that unsuitable.
// Covers A1, A7.
TEST(StoreProbeTest, AFailureIsNoVerdict) {
  ForEachFailure([](const Fault& fault) {
    MemoryStore memory;
    FaultyStore store(memory, fault);
    const Result<void> probe = Probe(store);
    if (store.fired() && !probe.ok()) {
      EXPECT_THAT(probe, IsError(ErrorCode::kUnavailable));
    }
    return store.fired();
  });
}

TEST(StoreProbeTest, PassesOnWhatAPersonMustMend) {
  MemoryStore memory;
  FaultyStore store(memory, {.fail_call = 1, .calls = Fault::kAllCalls, .code = ErrorCode::kDenied});
  EXPECT_THAT(Probe(store), IsError(ErrorCode::kDenied));
}

}  // namespace
}  // namespace batchweave
