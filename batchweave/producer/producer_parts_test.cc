// Batches in parts: tickets, workers and receipts of one process, one call after the other in one thread.
#include <gtest/gtest.h>

#include "batchweave/producer/combining_law.h"
#include "batchweave/producer/committer.h"
#include "batchweave/producer/open_producer.h"
#include "batchweave/producer/uploader.h"
#include "batchweave/producer/write_part.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/stream_builder.h"
#include "batchweave/testing/test_env.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

constexpr Grid kGrid{.dp = 4, .cp = 1};

// A producer "a" and its workers on the stream of `stream`: what ProducerHost holds, without its threads.
class PartsProcess {
 public:
  PartsProcess(TestEnv& env, ObjectStore& store, const StreamBuilder& stream)
      : env_(env.Over(store)),
        log_(env_, stream.keys(), stream.stream_json_hash()),
        pipeline_(env_),
        committer_(env_, log_, pipeline_, law_) {}

  Result<void> Open() {
    const OpenedProducer opened = BW_TRY(CommitOpening(log_, "a", /*reopen=*/false, kForever));
    // Shared: see ProducerRef.
    producer_ = std::make_shared<ProducerState>("a", opened, ProducerOptions{});
    pipeline_.Add(producer_);
    return {};
  }
  Result<PartTicket> NextTicket() { return pipeline_.HandOutTicket(*producer_, log_.keys().stream_id, kGrid, {}); }
  // A worker's part of two slices, until it is written.
  PartReceipt Write(const PartTicket& ticket, uint32_t dp_begin) {
    GlobalBatch slices({.dp = 2, .cp = 1});
    EXPECT_THAT(slices.SetCopy({.dp = 0, .cp = 0}, AsBytes("left")), IsOk());
    EXPECT_THAT(slices.SetCopy({.dp = 1, .cp = 0}, AsBytes("right")), IsOk());
    const PartContent content{.range = {.dp_begin = dp_begin, .dp_count = 2, .cp_begin = 0, .cp_count = 1},
                              .slices = slices};
    while (true) {
      const Result<PartReceipt> receipt = WritePart(env_, log_.keys(), ticket, content);
      if (receipt.ok()) return *receipt;
    }
  }
  std::vector<PartReceipt> WriteAll(const PartTicket& ticket) { return {Write(ticket, 0), Write(ticket, 2)}; }
  Result<uint64_t> PublishParts(std::span<const PartReceipt> receipts, std::string_view cursor = "") {
    return pipeline_.EnqueueParts(*producer_, receipts, {.cursor = ToBytes(cursor)});
  }
  Result<uint64_t> Publish(std::string_view cursor = "") {
    GlobalBatch batch({.dp = 1, .cp = 1});
    EXPECT_THAT(batch.SetCopy({}, AsBytes("plain")), IsOk());
    return pipeline_.Enqueue(*producer_, std::move(batch), {.cursor = ToBytes(cursor)});
  }
  void Upload() {
    const std::optional<UploadJob> job = pipeline_.TakeUpload();
    pipeline_.FinishUpload(*job, UploadOne(env_, log_.keys(), *job));
  }
  void Commit() { committer_.CommitOnce(); }
  uint64_t CommittedSeq() const { return pipeline_.CommittedSeqOf(*producer_); }
  Pipeline& pipeline() { return pipeline_; }
  ProducerState& producer() { return *producer_; }

 private:
  const Env env_;
  ManifestLog log_;
  Pipeline pipeline_;
  CombiningLaw law_;
  Committer committer_;
  ProducerRef producer_;
};

class ProducerPartsTest : public ::testing::Test {
 protected:
  ProducerPartsTest() { EXPECT_THAT(process_.Open(), IsOk()); }
  Manifest Newest() { return NewestOf(memory_, stream_); }
  Manifest NewestOf(ObjectStore& store, const StreamBuilder& stream) {
    return ManifestLog(env_.Over(store), stream.keys(), stream.stream_json_hash()).ReadNewest()->manifest;
  }

  MemoryStore memory_;
  StreamBuilder stream_{memory_};
  TestEnv env_;
  PartsProcess process_{env_, memory_, stream_};
};

TEST_F(ProducerPartsTest, PartsAreCommittedAsOneBatch) {
  const PartTicket ticket = *process_.NextTicket();
  const std::vector<PartReceipt> receipts = process_.WriteAll(ticket);
  EXPECT_TRUE(Newest().tail.empty());
  EXPECT_THAT(process_.PublishParts(receipts, "7"), IsOkAndHolds(1u));
  process_.Commit();
  EXPECT_THAT(process_.pipeline().AwaitCommitted(process_.producer(), kForever), IsOk());
  ASSERT_EQ(Newest().tail.size(), 1u);
  const Entry entry = Newest().tail.front();
  EXPECT_EQ(entry.grid, kGrid);
  EXPECT_EQ(entry.parts, (std::vector<Part>{receipts[0].part, receipts[1].part}));
  EXPECT_EQ(entry.cursor, ToBytes("7"));
  EXPECT_EQ(process_.pipeline().StatsOf(process_.producer()).published_bytes, 18u);
}

TEST_F(ProducerPartsTest, TicketsAreForBatchesThatFollowEachOtherAndTheOldestIsAwaited) {
  const PartTicket first = *process_.NextTicket();
  const PartTicket second = *process_.NextTicket();
  EXPECT_EQ(first.identity.seq, 1u);
  EXPECT_EQ(second.identity.seq, 2u);
  EXPECT_NE(first.nonce, second.nonce);
  EXPECT_THAT(process_.PublishParts(process_.WriteAll(second)),
              IsError(ErrorCode::kInvalidArgument, HasSubstr("another batch: found=2 expected=1")));
  EXPECT_THAT(process_.PublishParts(process_.WriteAll(first)), IsOkAndHolds(1u));
  EXPECT_THAT(process_.PublishParts(process_.WriteAll(second)), IsOkAndHolds(2u));
  EXPECT_THAT(process_.PublishParts({}), IsError(ErrorCode::kInvalidArgument, HasSubstr("no ticket is outstanding")));
}

TEST_F(ProducerPartsTest, WhileATicketIsOutstandingPublishAndFinishAreRefused) {
  const PartTicket ticket = *process_.NextTicket();
  EXPECT_THAT(process_.Publish(), IsError(ErrorCode::kInvalidArgument, HasSubstr("tickets=1 first_seq=1")));
  EXPECT_THAT(process_.pipeline().AwaitFinished(process_.producer(), kForever),
              IsError(ErrorCode::kInvalidArgument, HasSubstr("tickets=1 first_seq=1")));
  ASSERT_THAT(process_.PublishParts(process_.WriteAll(ticket)), IsOk());
  EXPECT_THAT(process_.Publish(), IsOkAndHolds(2u));
}

// Covers I5.
TEST_F(ProducerPartsTest, PartsWaitForTheUploadOfTheBatchBeforeThem) {
  ASSERT_THAT(process_.Publish("1"), IsOkAndHolds(1u));
  ASSERT_THAT(process_.PublishParts(process_.WriteAll(*process_.NextTicket()), "2"), IsOkAndHolds(2u));
  EXPECT_TRUE(process_.pipeline().CollectRuns().runs.empty());
  process_.Upload();
  process_.Commit();
  EXPECT_EQ(process_.CommittedSeq(), 2u);
  ASSERT_EQ(Newest().tail.size(), 2u);
  EXPECT_EQ(Newest().tail.back().cursor, ToBytes("2"));
}

// Covers C2.
TEST_F(ProducerPartsTest, LimitsAndCursorsAreCheckedAsForAnyBatchAndTheTicketStays) {
  const std::vector<PartReceipt> receipts = process_.WriteAll(*process_.NextTicket());
  Pipeline& pipeline = process_.pipeline();
  ProducerState& producer = process_.producer();
  EXPECT_THAT(pipeline.EnqueueParts(producer, receipts, {.cursor = Bytes(kCursorBytesMax + 1)}),
              IsError(ErrorCode::kInvalidArgument, HasSubstr("cursor")));
  EXPECT_THAT(pipeline.EnqueueParts(producer, receipts, {.provenance = ToBytes("x")}),
              IsError(ErrorCode::kInvalidArgument, HasSubstr("provenance")));
  ASSERT_THAT(process_.PublishParts(receipts, "1"), IsOkAndHolds(1u));
  const std::vector<PartReceipt> next = process_.WriteAll(*process_.NextTicket());
  EXPECT_THAT(pipeline.EnqueueParts(producer, next, {.cursor_before = ToBytes("0")}),
              IsError(ErrorCode::kInvalidArgument, HasSubstr("cursor_after_the_last_batch=31")));
  EXPECT_THAT(pipeline.EnqueueParts(producer, next, {.cursor_before = ToBytes("1")}), IsOkAndHolds(2u));
}

TEST_F(ProducerPartsTest, TicketsHaveTheLimitsOfBatches) {
  const auto ask = [&](Grid grid, BatchOptions options) {
    return process_.pipeline().HandOutTicket(process_.producer(), stream_.keys().stream_id, grid, std::move(options));
  };
  EXPECT_THAT(ask({.dp = 0, .cp = 1}, {}), IsError(ErrorCode::kInvalidArgument, HasSubstr("grid=0x1")));
  EXPECT_THAT(ask(kGrid, {.content_type = "\n"}), IsError(ErrorCode::kInvalidArgument, HasSubstr("content type")));
  for (int i = 0; i < 4096; ++i) ASSERT_THAT(process_.NextTicket(), IsOk());
  EXPECT_THAT(process_.NextTicket(), IsError(ErrorCode::kInvalidArgument, HasSubstr("max=4096")));
}

// Covers M4.
TEST_F(ProducerPartsTest, DroppedTicketsGiveTheirBatchesToNewOnesAndTheirReceiptsAreRefused) {
  const PartTicket dropped = *process_.NextTicket();
  const std::vector<PartReceipt> late = process_.WriteAll(dropped);
  process_.pipeline().DropTickets(process_.producer());
  EXPECT_THAT(process_.PublishParts(late), IsError(ErrorCode::kInvalidArgument, HasSubstr("no ticket")));
  const PartTicket ticket = *process_.NextTicket();
  EXPECT_EQ(ticket.identity.seq, dropped.identity.seq);
  EXPECT_THAT(process_.PublishParts(late),
              IsError(ErrorCode::kInvalidArgument, HasSubstr("ticket, which was dropped")));
  std::vector<PartReceipt> mixed = {late[0], process_.Write(ticket, 2)};
  EXPECT_THAT(process_.PublishParts(mixed), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(process_.PublishParts(process_.WriteAll(ticket)), IsOkAndHolds(1u));
}

// Covers M4, I10.
TEST_F(ProducerPartsTest, WorkerThatWasRunTwiceHarmsNothing) {
  const PartTicket ticket = *process_.NextTicket();
  std::vector<PartReceipt> receipts = process_.WriteAll(ticket);
  receipts.push_back(process_.Write(ticket, 2));
  EXPECT_THAT(process_.PublishParts(receipts), IsError(ErrorCode::kInvalidArgument, HasSubstr("two parts hold one")));
  receipts.erase(receipts.begin() + 1);
  ASSERT_THAT(process_.PublishParts(receipts), IsOk());
  process_.Commit();
  const Bytes committed =
      *memory_.Read(stream_.keys().Data("a", ticket.identity.incarnation, 1, receipts[1].part.nonce));
  process_.Write(ticket, 2);  // After all is over.
  EXPECT_EQ(Newest().tail.front().parts[1], receipts[1].part);
  EXPECT_THAT(memory_.Read(stream_.keys().Data("a", ticket.identity.incarnation, 1, receipts[1].part.nonce)),
              IsOkAndHolds(committed));
}

// Covers M4, I6, C4.
TEST_F(ProducerPartsTest, ReceiptsOfAProducerThatDiedAreRefusedByItsSuccessor) {
  const PartTicket old_ticket = *process_.NextTicket();
  const std::vector<PartReceipt> late = process_.WriteAll(old_ticket);
  PartsProcess successor(env_, memory_, stream_);
  ASSERT_THAT(successor.Open(), IsOk());
  const PartTicket ticket = *successor.NextTicket();
  EXPECT_EQ(ticket.identity.seq, old_ticket.identity.seq);
  EXPECT_THAT(successor.PublishParts(late), IsError(ErrorCode::kInvalidArgument, HasSubstr("another incarnation")));
  ASSERT_THAT(successor.PublishParts(successor.WriteAll(ticket)), IsOk());
  successor.Commit();
  // The old one does not know yet that it is fenced.
  ASSERT_THAT(process_.PublishParts(late), IsOk());
  process_.Commit();
  EXPECT_THAT(process_.pipeline().AwaitCommitted(process_.producer(), kForever), IsError(ErrorCode::kFenced));
  ASSERT_EQ(Newest().tail.size(), 1u);
  EXPECT_EQ(Newest().tail.front().incarnation, ticket.identity.incarnation);
}

// Covers A1, A2, C1, M4, I4, I5, I7.
TEST_F(ProducerPartsTest, AnySingleFailureLosesAndDoublesNothing) {
  for (const FaultWhen late : {FaultWhen::kBefore, FaultWhen::kLater}) {
    ForEachFailure([&](Fault fault) {
      if (late == FaultWhen::kLater && fault.when == FaultWhen::kAfter) fault.when = late;
      MemoryStore memory;
      const StreamBuilder stream(memory);
      FaultyStore store(memory, fault);
      PartsProcess process(env_, store, stream);
      const bool opened = process.Open().ok() || process.Open().ok();
      EXPECT_TRUE(opened);
      for (const uint64_t seq : {1, 2}) {
        const PartTicket ticket = *process.NextTicket();
        EXPECT_THAT(process.PublishParts(process.WriteAll(ticket), std::to_string(seq)), IsOkAndHolds(seq));
        if (seq == 2) store.ApplyDelayed();
        while (process.CommittedSeq() < seq) process.Commit();
      }
      store.ApplyDelayed();
      const Manifest newest = NewestOf(memory, stream);
      EXPECT_EQ(newest.tail.size(), 2u);
      for (const Entry& entry : newest.tail) {
        EXPECT_EQ(AsText(entry.cursor), std::to_string(entry.seq));
        for (const Part& part : entry.parts) {
          EXPECT_THAT(memory.Stat(stream.keys().Data("a", entry.incarnation, entry.seq, part.nonce)),
                      IsOkAndHolds(part.object_bytes));
        }
      }
      return store.fired();
    });
  }
}

}  // namespace
}  // namespace batchweave
