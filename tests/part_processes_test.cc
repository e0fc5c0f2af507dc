// A producer and the worker that writes the parts of its batches, two processes of which either dies at any point.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "batchweave/base/check.h"
#include "batchweave/lifecycle/reclaim.h"
#include "batchweave/stream/stream.h"
#include "batchweave/stream/verify.h"
#include "batchweave/testing/child_process.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/temporary_directory.h"
#include "tests/process.h"

namespace batchweave {
namespace {

constexpr uint64_t kBatches = 3;
constexpr Grid kGrid{.dp = 2, .cp = 1};
constexpr size_t kMessageBytesMax = size_t{64} << 10;

std::string TextOf(uint64_t number, uint32_t dp) { return std::to_string(number) + (dp == 0 ? " left" : " right"); }

// Between the two: a message sent is received whole, and who waits for one that is dead learns it.
class Channel {
 public:
  Channel() { BW_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_) == 0); }
  ~Channel() {
    Close(0);
    Close(1);
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // To be called in the process that has the other end.
  void Close(int end) {
    if (const int fd = std::exchange(ends_[end], -1); fd >= 0) close(fd);
  }
  bool Send(int end, ByteView message) const {
    return send(ends_[end], message.data(), message.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(message.size());
  }
  std::optional<Bytes> Receive(int end) const {
    Bytes message(kMessageBytesMax);
    const ssize_t size = recv(ends_[end], message.data(), message.size(), 0);
    if (size <= 0) return std::nullopt;
    message.resize(static_cast<size_t>(size));
    return message;
  }

 private:
  int ends_[2] = {-1, -1};
};
constexpr int kProducerEnd = 0;
constexpr int kWorkerEnd = 1;

// Between which of its acts the producer dies, without a call of the store.
enum class Stage { kNever, kTicketIsOut, kPartsAreWritten, kBatchIsQueued, kBatchIsCommitted };

struct Death {
  Stage stage = Stage::kNever;  // Of the second batch.
  KillPoint producer{};
  KillPoint worker{};
};

// Writes both parts of every batch that it gets a ticket for, until the producer is gone. False on any error.
bool RunWorker(const std::string& directory, const Channel& channel, const KillPoint& point) {
  Process process(directory, point);
  Result<Stream> stream = Stream::Open(process.env(), "run");
  if (!stream.ok()) return false;
  while (const std::optional<Bytes> message = channel.Receive(kWorkerEnd)) {
    const Result<PartTicket> ticket = DecodePartTicket(*message);
    if (!ticket.ok()) return false;
    for (const uint32_t dp : {0u, 1u}) {
      GlobalBatch slices({.dp = 1, .cp = 1});
      if (!slices.Set({}, ToBytes(TextOf(ticket->identity.seq, dp))).ok()) return false;
      const GridRange range{.dp_begin = dp, .dp_count = 1, .cp_begin = 0, .cp_count = 1};
      const Result<PartReceipt> receipt = stream->WritePart(*ticket, range, slices);
      if (!receipt.ok() || !channel.Send(kWorkerEnd, EncodePartReceipt(*receipt))) return false;
    }
  }
  return true;
}

// One batch by way of the worker. False on any error, or where the worker is dead.
bool PublishOne(Producer& producer, const Channel& channel, uint64_t number, Stage dies_at) {
  const auto reach = [&](Stage stage) {
    if (stage == dies_at) std::raise(SIGKILL);
  };
  const Result<PartTicket> ticket = producer.NextTicket(kGrid);
  if (!ticket.ok() || !channel.Send(kProducerEnd, EncodePartTicket(*ticket))) return false;
  reach(Stage::kTicketIsOut);
  std::vector<PartReceipt> receipts;
  while (receipts.size() < kGrid.dp) {
    const std::optional<Bytes> message = channel.Receive(kProducerEnd);
    if (!message) return false;
    Result<PartReceipt> receipt = DecodePartReceipt(*message);
    if (!receipt.ok()) return false;
    receipts.push_back(*std::move(receipt));
  }
  reach(Stage::kPartsAreWritten);
  const PublishOptions options{.cursor = ToBytes(std::to_string(number)),
                               .cursor_before = ToBytes(std::to_string(number - 1))};
  if (!producer.PublishParts(receipts, options).ok()) return false;
  reach(Stage::kBatchIsQueued);
  if (!producer.Flush().ok()) return false;
  reach(Stage::kBatchIsCommitted);
  return true;
}

bool RunProducer(const std::string& directory, const Channel& channel, const Death& death) {
  Process process(directory, death.producer);
  Result<Stream> stream = Stream::Open(process.env(), "run");
  if (!stream.ok()) return false;
  Result<Producer> producer = stream->OpenProducer("a");
  // Killed right after its last commit, it has finished.
  if (FailedWith(producer, ErrorCode::kAlreadyExists)) return true;
  if (!producer.ok()) return false;
  for (uint64_t number = NumberIn(producer->cursor()) + 1; number <= kBatches; ++number) {
    if (!PublishOne(*producer, channel, number, number == 2 ? death.stage : Stage::kNever)) return false;
  }
  return producer->Finish().ok();
}

// Both, until both have ended: whether all went well.
bool RunBoth(const std::string& directory, const Death& death) {
  Channel channel;
  ChildProcess worker([&] {
    channel.Close(kProducerEnd);
    return RunWorker(directory, channel, death.worker);
  });
  channel.Close(kWorkerEnd);
  ChildProcess producer([&] { return RunProducer(directory, channel, death); });
  channel.Close(kProducerEnd);
  const bool produced = producer.Wait();
  return worker.Wait() && produced;
}

void ExpectEveryBatchOnce(Stream& stream) {
  Result<Consumer> rank = stream.OpenConsumer({});
  ASSERT_THAT(rank, IsOk());
  for (uint64_t number = 1; number <= kBatches; ++number) {
    const Result<std::optional<RankBatch>> batch = rank->Next();
    ASSERT_THAT(batch, IsOk());
    for (const Slice& slice : (*batch)->slices()) EXPECT_EQ(AsText(slice.bytes), TextOf(number, slice.at.dp));
  }
}

// Runs both with `death`, once more without, and checks what came of it. Returns whether the first run was cut short.
bool SurvivesDeath(const Death& death) {
  const TemporaryDirectory directory;
  Process process(directory.path());
  EXPECT_THAT(Stream::Create(process.env(), "run"), IsOk());
  const bool died = !RunBoth(directory.path(), death);
  EXPECT_TRUE(!died || RunBoth(directory.path(), {}));
  ExpectWhole(directory.path(), kBatches);
  Result<Stream> stream = Stream::Open(process.env(), "run");
  EXPECT_THAT(stream, IsOk());
  ExpectEveryBatchOnce(*stream);
  // Parts that no batch names are dead by now, and go.
  EXPECT_THAT(Reclaim(stream->log()), IsOk());
  const Result<VerifyReport> report = VerifyStream(*stream, {.deep = true});
  EXPECT_TRUE(report.ok() && report->ok() && report->unnamed_objects == 0);
  return died;
}

// Covers C4, A8, I5, I9.
TEST(PartProcessesTest, ProducerKilledBetweenItsPartsAndTheirCommitGoesOnWhereItsCommitsEnd) {
  for (const Stage stage :
       {Stage::kTicketIsOut, Stage::kPartsAreWritten, Stage::kBatchIsQueued, Stage::kBatchIsCommitted}) {
    SCOPED_TRACE(::testing::Message() << "killed at stage " << static_cast<int>(stage));
    EXPECT_TRUE(SurvivesDeath({.stage = stage}));
  }
}

// Covers C4, A8, I4, I5, I7.
TEST(PartProcessesTest, ProducerOfPartsKilledAtAnyCallGoesOnWhereItsCommitsEnd) {
  for (const bool after_effect : {false, true}) {
    bool killed = true;
    for (size_t call = 1; killed; ++call) {
      SCOPED_TRACE(::testing::Message() << "killed at call " << call << (after_effect ? ", after it" : ", before it"));
      killed = SurvivesDeath({.producer = {.call = call, .after_effect = after_effect}});
    }
  }
}

// Covers M4, I4, I9.
TEST(PartProcessesTest, WorkerKilledAtAnyCallCostsAnotherTryAndNothingElse) {
  for (const bool after_effect : {false, true}) {
    bool killed = true;
    for (size_t call = 1; killed; ++call) {
      SCOPED_TRACE(::testing::Message() << "killed at call " << call << (after_effect ? ", after it" : ", before it"));
      killed = SurvivesDeath({.worker = {.call = call, .after_effect = after_effect}});
    }
  }
}

}  // namespace
}  // namespace batchweave
