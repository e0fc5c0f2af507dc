// Batches in parts from end to end: a producer's tickets, workers with handles of their own, ranks that read the whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "batchweave/store/memory_store.h"
#include "batchweave/stream/describe.h"
#include "batchweave/stream/stream.h"
#include "batchweave/stream/verify.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/seeded_random.h"

namespace batchweave {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Grid kGrid{.dp = 4, .cp = 2};
constexpr GridRange kLeft{.dp_begin = 0, .dp_count = 3, .cp_begin = 0, .cp_count = 2};
constexpr GridRange kRight{.dp_begin = 3, .dp_count = 1, .cp_begin = 0, .cp_count = 2};

std::string SliceText(uint64_t seq, Coordinate at) {
  return "batch " + std::to_string(seq) + std::string(at.dp + 1, '+') + std::string(at.cp, '-');
}

class StreamPartsTest : public ::testing::Test {
 protected:
  // What a worker on another host does: it has the ticket's bytes, and gives back those of the receipt.
  Bytes Work(const Bytes& ticket_bytes, GridRange range, std::string_view provenance = "") {
    const PartTicket ticket = *DecodePartTicket(ticket_bytes);
    Stream worker = *Stream::Open(env_, "run");
    GlobalBatch slices({.dp = range.dp_count, .cp = range.cp_count});
    for (uint32_t i = 0; i < range.slices(); ++i) {
      const Coordinate at{.dp = i % range.dp_count, .cp = i / range.dp_count};
      const std::string text =
          SliceText(ticket.identity.seq, {.dp = range.dp_begin + at.dp, .cp = range.cp_begin + at.cp});
      EXPECT_THAT(slices.SetCopy(at, AsBytes(text)), IsOk());
    }
    const Result<PartReceipt> receipt = worker.WritePart(ticket, range, slices, AsBytes(provenance));
    EXPECT_THAT(receipt, IsOk());
    return EncodePartReceipt(*receipt);
  }
  // One batch by two workers, each with a provenance of its own.
  void PublishBatch(Producer& producer) {
    const Bytes ticket = EncodePartTicket(*producer.NextTicket(kGrid, {.content_type = "text/plain"}));
    const std::vector<PartReceipt> receipts = {*DecodePartReceipt(Work(ticket, kRight, "right")),
                                               *DecodePartReceipt(Work(ticket, kLeft, "left"))};
    EXPECT_THAT(producer.PublishParts(receipts, {.samples = 8}), IsOk());
  }
  VerifyReport Verify() {
    Stream stream = *Stream::Open(env_, "run");
    return *VerifyStream(stream, {.deep = true});
  }

  MemoryStore memory_;
  SystemClock clock_;
  SeededRandom random_{1};
  SystemThreads threads_;
  Env env_{.store = memory_, .clock = clock_, .random = random_, .threads = threads_};
  Stream stream_ = *Stream::Create(env_, "run");
};

// Covers I10, I11.
TEST_F(StreamPartsTest, RanksOfAnyMeshReadWhatTheWorkersWrote) {
  Producer producer = *stream_.OpenProducer("a");
  for (int batch = 0; batch < 3; ++batch) PublishBatch(producer);
  ASSERT_THAT(producer.Finish(), IsOk());
  for (const MeshRank mesh : {MeshRank{.dp_size = 1, .cp_size = 1}, MeshRank{.dp_size = 2, .cp_size = 1},
                              MeshRank{.dp_size = 4, .cp_size = 2}}) {
    uint64_t slices = 0;
    for (uint32_t i = 0; i < mesh.dp_size * mesh.cp_size; ++i) {
      const MeshRank rank{
          .dp_rank = i % mesh.dp_size, .dp_size = mesh.dp_size, .cp_rank = i / mesh.dp_size, .cp_size = mesh.cp_size};
      Consumer consumer = *stream_.OpenConsumer({.rank = rank});
      for (uint64_t seq = 1; seq <= 3; ++seq) {
        const std::optional<RankBatch> batch = *consumer.Next();
        EXPECT_EQ(batch->entry().parts.size(), 2u);
        for (const Slice& slice : batch->slices()) EXPECT_EQ(AsText(slice.bytes), SliceText(seq, slice.at));
        slices += batch->slices().size();
      }
    }
    EXPECT_EQ(slices, 3 * kGrid.slices());
  }
}

TEST_F(StreamPartsTest, DeepVerificationFindsNothingWrong) {
  Producer producer = *stream_.OpenProducer("a");
  for (int batch = 0; batch < 2; ++batch) PublishBatch(producer);
  GlobalBatch plain({.dp = 1, .cp = 1});
  ASSERT_THAT(plain.SetCopy({}, AsBytes("plain")), IsOk());
  ASSERT_THAT(producer.Publish(std::move(plain), {.provenance = ToBytes("one object")}), IsOk());
  ASSERT_THAT(producer.Finish(), IsOk());
  const VerifyReport report = Verify();
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.data_objects, 5u);
  EXPECT_EQ(report.slices_read, 2 * kGrid.slices() + 1);
}

TEST_F(StreamPartsTest, ProvenanceIsToldPartByPartAndDamageOfItIsFound) {
  Producer producer = *stream_.OpenProducer("a");
  PublishBatch(producer);
  ASSERT_THAT(producer.Flush(), IsOk());
  const Result<StepDescription> step = DescribeStep(stream_, Step{0});
  ASSERT_THAT(step, IsOk());
  EXPECT_THAT(step->provenance, ElementsAre(ToBytes("left"), ToBytes("right")));
  EXPECT_EQ(step->entry.content_type, "text/plain");

  const Part& part = step->entry.parts[0];
  Bytes object = *memory_.Read(step->keys[0]);
  object[part.object_bytes - part.footer_bytes - 1] ^= std::byte{1};
  ASSERT_THAT(PutBytes(memory_, step->keys[0], object, PutMode::kOverwrite), IsOk());
  EXPECT_THAT(DescribeStep(stream_, Step{0}), IsError(ErrorCode::kCorrupt, HasSubstr("in the provenance")));
  EXPECT_THAT(Verify().findings, Contains(Field(&Finding::message, HasSubstr("in the provenance"))));
}

// Covers M4, C4.
TEST_F(StreamPartsTest, WorkersOfAProducerThatIsGoneHarmNothing) {
  Bytes lost_ticket;
  Bytes late_receipt;
  {
    Producer dead = *stream_.OpenProducer("a");
    PublishBatch(dead);
    ASSERT_THAT(dead.Flush(), IsOk());
    lost_ticket = EncodePartTicket(*dead.NextTicket(kGrid));
    late_receipt = Work(lost_ticket, kLeft);
  }
  Producer successor = *stream_.OpenProducer("a");
  const PartTicket ticket = *successor.NextTicket(kGrid);
  EXPECT_EQ(ticket.identity.seq, 2u);
  const std::vector<PartReceipt> mixed = {*DecodePartReceipt(late_receipt),
                                          *DecodePartReceipt(Work(EncodePartTicket(ticket), kRight))};
  EXPECT_THAT(successor.PublishParts(mixed, {}), IsError(ErrorCode::kInvalidArgument, HasSubstr("incarnation")));
  successor.DropTickets();
  PublishBatch(successor);
  ASSERT_THAT(successor.Finish(), IsOk());
  Work(lost_ticket, kRight);  // A worker that slept through all of it.
  const VerifyReport report = Verify();
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.entries, 2u);
  EXPECT_EQ(report.unnamed_objects, 3u);
}

}  // namespace
}  // namespace batchweave
