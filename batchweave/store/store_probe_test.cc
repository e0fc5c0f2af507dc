#include "batchweave/store/store_probe.h"

#include <gtest/gtest.h>

#include <functional>

#include "batchweave/store/local_store.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/corrupting_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/temporary_directory.h"
#include "batchweave/testing/test_env.h"

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
    kKeepsOnDelete
  };
  explicit LyingStore(Lie lie) : lie_(lie) {}

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override {
    if (lie_ == Lie::kOverwritesOnCreate) mode = PutMode::kOverwrite;
    if (lie_ == Lie::kKeepsOnOverwrite && mode == PutMode::kOverwrite) return {};
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
  Result<Bytes> Read(std::string_view key) override { return memory_.Read(key); }
  Result<uint64_t> Stat(std::string_view key) override { return memory_.Stat(key); }
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override {
    return lie_ == Lie::kListsNothing ? ListPage{} : memory_.List(prefix, start_after, limit);
  }
  Result<void> Delete(std::span<const std::string> keys) override {
    return lie_ == Lie::kKeepsOnDelete ? Result<void>() : memory_.Delete(keys);
  }
  StoreTraits traits() const override { return memory_.traits(); }

 private:
  const Lie lie_;
  MemoryStore memory_;
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

TEST(StoreProbeTest, NamesTheRuleThatAStoreBreaks) {
  using Lie = LyingStore::Lie;
  const std::pair<Lie, const char*> cases[] = {{Lie::kOverwritesOnCreate, "create-only put"},
                                               {Lie::kIgnoresSecondCreate, "create-only put"},
                                               {Lie::kIgnoresRanges, "ranged reads"},
                                               {Lie::kKeepsOnOverwrite, "overwrite"},
                                               {Lie::kListsNothing, "lists"},
                                               {Lie::kKeepsOnDelete, "delete"}};
  for (const auto& [lie, rule] : cases) {
    LyingStore store(lie);
    EXPECT_THAT(Probe(store), IsError(ErrorCode::kUnsuitableStore, HasSubstr(rule)));
  }
}

TEST(StoreProbeTest, RefusesAStoreThatCutsOrAltersBodies) {
  for (const auto kind : {Corruption::Kind::kShort, Corruption::Kind::kEmpty, Corruption::Kind::kFlip}) {
    MemoryStore memory;
    CorruptingStore store(memory, {.kind = kind, .filter = {.calls = kCallGet}});
    EXPECT_THAT(Probe(store), IsError(ErrorCode::kUnsuitableStore, HasSubstr("ranged reads")));
    EXPECT_THAT(memory.List("", "", 10)->objects, IsEmpty());
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
