#include <gmock/gmock.h>

#include <thread>

#include "batchweave/lifecycle/checkpoint.h"
#include "batchweave/lifecycle/reclaim.h"
#include "batchweave/lifecycle/tombstone.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/gated_store.h"
#include "batchweave/testing/live_stream.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/removing_store.h"

namespace batchweave {
namespace {

// Every object of every entry is there.
void ExpectWhole(LiveStream& stream, ObjectStore& store) {
  for (const Entry& entry : stream.Newest().tail) {
    EXPECT_THAT(store.Stat(stream.keys().Data(entry.producer, entry.incarnation, entry.seq, entry.parts[0].nonce)),
                IsOk());
  }
}

// Covers I8, I9.
TEST(ReclaimConcurrencyTest, OneThatWasHeldAtItsDeletesAndItsTombstonesHarmsNothingWhenItGoesOn) {
  for (const unsigned calls : {unsigned{kCallDelete}, unsigned{kCallOverwrite}, unsigned{kCallList}}) {
    MemoryStore memory;
    LiveStream stream(memory);
    stream.Open("tok");
    stream.Append("tok", 20);
    ASSERT_THAT(CreateGroup(stream.log(), "train", Step{10}, kForever), IsOk());
    stream.Tick(kLiveVersions);
    CheckpointRequest request{.holder = {"train", {}}, .name = "a", .position = {12}, .keep_last = 1};
    ASSERT_THAT(RegisterCheckpoint(stream.log(), request, kForever), IsOk());
    GatedStore gate(memory);
    ManifestLog held_log = stream.LogOver(gate);
    gate.Close({.calls = calls});
    Result<ReclaimReport> held = ReclaimReport{};
    std::thread thread([&] { held = Reclaim(held_log, {.overwrite_probed = true}); });
    gate.AwaitHeld();
    // The world goes on: more batches, a trim, another reclaimer.
    stream.Append("tok", 10);
    request.position = {18};
    EXPECT_THAT(RegisterCheckpoint(stream.log(), request, kForever), IsOk());
    stream.Tick(10);
    EXPECT_THAT(Reclaim(stream.log(), {.overwrite_probed = true}), IsOk());
    gate.Open();
    thread.join();
    EXPECT_THAT(held, IsOk());
    EXPECT_EQ(stream.Newest().next_step, Step{30});
    ExpectWhole(stream, memory);
    EXPECT_THAT(Reclaim(stream.log(), {.overwrite_probed = true})->objects, 0u);
  }
}

// Covers D1, D2.
TEST(ReclaimConcurrencyTest, ACommitterThatIsHeldWhileOthersReclaimStillHasItsBatches) {
  MemoryStore memory;
  LiveStream stream(memory);
  const Incarnation tok = stream.Open("tok");
  const Entry second = stream.Upload("tok", tok, 2);  // Uploads end in any order.
  const Entry first = stream.Upload("tok", tok, 1);
  stream.Tick(kLiveVersions + 5);
  ASSERT_THAT(Reclaim(stream.log()), IsOk());
  stream.Change([&](Manifest& next) {
    next.tail = {first, second};
    next.next_step = {2};
    next.rows[0].seq = 2;
    next.rows[0].step = Step{1};
  });
  ASSERT_THAT(Reclaim(stream.log()), IsOk());
  ExpectWhole(stream, memory);
}

// Covers M5.
TEST(ReclaimConcurrencyTest, RetiresNothingOnAServerThatRemovesAndThenWrites) {
  MemoryStore memory;
  LiveStream stream(memory);
  stream.Tick(kLiveVersions + 1);
  RemovingStore store(memory);
  ManifestLog log = stream.LogOver(store);
  EXPECT_THAT(Reclaim(log), IsError(ErrorCode::kUnsuitableStore));
  EXPECT_THAT(stream.log().Read(Version{1}), IsOk());
}

}  // namespace
}  // namespace batchweave
