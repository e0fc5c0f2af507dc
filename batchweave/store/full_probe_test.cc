#include "batchweave/store/full_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "batchweave/store/memory_store.h"
#include "batchweave/testing/leftover_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/test_env.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

enum class Lie { kNone, kTwoCreatorsWin, kListOutOfOrder, kShortRanges };

// A store that keeps every rule but one.
class LyingStore final : public ObjectStore {
 public:
  explicit LyingStore(Lie lie) : lie_(lie) {}

  Result<void> Put(std::string_view key, std::span<const ByteView> pieces, PutMode mode) override {
    Result<void> put = base_.Put(key, pieces, mode);
    // Only where creators race: a second try in a row is refused.
    const bool lies = lie_ == Lie::kTwoCreatorsWin && key.find("/race/") != std::string_view::npos;
    if (lies && FailedWith(put, ErrorCode::kAlreadyExists)) return {};
    return put;
  }
  Result<void> Get(std::span<ReadRequest> requests) override {
    BW_TRY(base_.Get(requests));
    if (lie_ != Lie::kShortRanges) return {};
    for (ReadRequest& request : requests) request.received_bytes = std::min<size_t>(request.received_bytes, 70'000);
    return {};
  }
  Result<Bytes> Read(std::string_view key) override { return base_.Read(key); }
  Result<uint64_t> Stat(std::string_view key) override { return base_.Stat(key); }
  Result<ListPage> List(std::string_view prefix, std::string_view start_after, size_t limit) override {
    ListPage page = BW_TRY(base_.List(prefix, start_after, limit));
    if (lie_ == Lie::kListOutOfOrder) std::ranges::reverse(page.objects);
    return page;
  }
  Result<void> Delete(std::span<const std::string> keys) override { return base_.Delete(keys); }
  StoreTraits traits() const override { return base_.traits(); }

 private:
  const Lie lie_;
  MemoryStore base_;
};

Result<std::vector<SizeFigures>> ProbeOf(ObjectStore& store) {
  TestEnv env;
  return ProbeFully(env.Over(store), store, "run/probe/1/", {.object_bytes_max = uint64_t{1} << 20});
}

TEST(FullProbeTest, AStoreThatKeepsTheRulesIsMeasuredAndLeftEmpty) {
  LyingStore store(Lie::kNone);
  const Result<std::vector<SizeFigures>> figures = ProbeOf(store);
  ASSERT_THAT(figures, IsOk());
  EXPECT_THAT(*figures, SizeIs(2));
  EXPECT_EQ(figures->back().size_bytes, uint64_t{1} << 20);
  EXPECT_THAT(store.List("", "", 10).value().objects, IsEmpty());
}

// Covers F1.
TEST(FullProbeTest, AStoreWhereSeveralRacingCreatorsWinIsRefused) {
  LyingStore store(Lie::kTwoCreatorsWin);
  EXPECT_THAT(ProbeOf(store), IsError(ErrorCode::kUnsuitableStore, HasSubstr("(create-only put)")));
}

TEST(FullProbeTest, AStoreThatListsOutOfOrderAndSaysOtherwiseIsRefused) {
  LyingStore store(Lie::kListOutOfOrder);
  EXPECT_THAT(ProbeOf(store), IsError(ErrorCode::kUnsuitableStore, HasSubstr("(list)")));
}

TEST(FullProbeTest, AStoreThatCutsLongRangesIsRefused) {
  LyingStore store(Lie::kShortRanges);
  EXPECT_THAT(ProbeOf(store), IsError(ErrorCode::kUnsuitableStore, HasSubstr("(ranged reads)")));
}

TEST(FullProbeTest, WhatAStoppedProbeLeftIsRemovedAndNothingElse) {
  MemoryStore store;
  ASSERT_THAT(PutBytes(store, "run/probe/7/race/0", AsBytes("x"), PutMode::kCreate), IsOk());
  ASSERT_THAT(PutBytes(store, "run/stream.json", AsBytes("x"), PutMode::kCreate), IsOk());
  EXPECT_THAT(CleanProbes(store, "run/probe/"), IsOkAndHolds(1u));
  EXPECT_THAT(store.Stat("run/stream.json"), IsOk());
}

TEST(FullProbeTest, WhatAGatewayLeftIsPassedOver) {
  MemoryStore memory;
  LeftoverStore store(memory, "run/probe/1/rules/.object.sgwtmp.17");
  EXPECT_THAT(ProbeOf(store), IsOk());
  EXPECT_THAT(memory.List("", "", 10)->objects, IsEmpty());
  ASSERT_THAT(PutBytes(memory, "run/probe/1/race/0", AsBytes("x"), PutMode::kCreate), IsOk());
  EXPECT_THAT(CleanProbes(store, "run/probe/"), IsOkAndHolds(1u));
  EXPECT_THAT(memory.List("", "", 10)->objects, IsEmpty());
}

}  // namespace
}  // namespace batchweave
