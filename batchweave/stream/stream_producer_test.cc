// A producer's name over its lives, from its opening to the going of its row.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "batchweave/log/change.h"
#include "batchweave/log/history.h"
#include "batchweave/log/producer_rows.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/stream/stream.h"
#include "batchweave/stream/verify.h"
#include "batchweave/testing/gated_store.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/seeded_random.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;

class StreamProducerTest : public ::testing::Test {
 protected:
  Env EnvOver(ObjectStore& store) { return {.store = store, .clock = clock_, .random = random_, .threads = threads_}; }
  static Result<uint64_t> Publish(Producer& producer, const std::string& text) {
    GlobalBatch batch({.dp = 1, .cp = 1});
    BW_TRY(batch.Set({}, ToBytes(text)));
    return producer.Publish(std::move(batch), {.cursor = ToBytes(text)});
  }
  // A whole life of a name that is used once.
  Incarnation RunOnce(const std::string& name, const std::string& text) {
    Producer producer = *stream_.OpenProducer(name, {.forget = true});
    EXPECT_THAT(Publish(producer, text), IsOk());
    EXPECT_THAT(producer.Finish(), IsOk());
    return producer.incarnation();
  }
  void TrimAll() {
    const Step end = stream_.log().ReadNewest()->manifest.next_step;
    EXPECT_THAT(stream_.CreateGroup("train", Step{0}), IsOk());
    Group group = *stream_.OpenGroup("train", {.start = end});
    EXPECT_THAT(group.Checkpoint("only", end, {.keep_last = 1}), IsOk());
  }
  void PassVersions(uint64_t versions) {
    for (uint64_t i = 0; i < versions; ++i) {
      ASSERT_THAT(CommitChange(stream_.log(), kForever, [](Manifest&) -> Result<bool> { return true; }), IsOk());
    }
  }
  // So many that their rows move to an archived table, and what may go goes.
  void OpenManyProducers() {
    const auto open = [](Manifest& next) -> Result<bool> {
      for (int i = 0; i < 500; ++i)
        FindOrAddRow(next, fmt::format("{:-<90}{:04}", "p", i)).incarnation = {next.version.value};
      return true;
    };
    ASSERT_THAT(CommitChange(stream_.log(), kForever, open), IsOk());
    PassVersions(1);  // Rows that a version adds stay in it.
  }
  bool IsKnown(const std::string& name) {
    const Manifest newest = stream_.log().ReadNewest()->manifest;
    const std::vector<ProducerRow> rows = *ReadRows(stream_.log(), newest);
    return std::ranges::find(rows, name, &ProducerRow::producer) != rows.end();
  }

  MemoryStore memory_;
  SystemClock clock_;
  SeededRandom random_{1};
  SystemThreads threads_;
  Stream stream_ = *Stream::Create(EnvOver(memory_), "run");
};

// Covers M7, I6.
TEST_F(StreamProducerTest, NameWhoseRowWentGetsANumberThatNobodyHad) {
  GatedStore gate(memory_);
  Stream elsewhere = *Stream::Open(EnvOver(gate), "run");
  Producer zombie = *elsewhere.OpenProducer("task", {.forget = true});
  gate.Close({.calls = kCallCreate, .key = KeyContains("/manifest/")});
  ASSERT_THAT(Publish(zombie, "late"), IsOkAndHolds(1u));
  gate.AwaitHeld();  // Its batch is uploaded, and its commit on the way.
  const Incarnation second = RunOnce("task", "once");
  TrimAll();
  PassVersions(1000);
  OpenManyProducers();
  ASSERT_FALSE(IsKnown("task"));

  Producer third = *stream_.OpenProducer("task");
  EXPECT_GT(second, zombie.incarnation());
  EXPECT_GT(third.incarnation(), second);
  EXPECT_EQ(third.incarnation().value, stream_.log().ReadNewest()->manifest.version.value);
  EXPECT_EQ(third.cursor(), std::nullopt);
  gate.Open();
  EXPECT_THAT(zombie.Flush(), IsError(ErrorCode::kFenced, HasSubstr("producer=task")));
  ASSERT_THAT(Publish(third, "anew"), IsOkAndHolds(1u));
  ASSERT_THAT(third.Flush(), IsOk());

  const Manifest newest = stream_.log().ReadNewest()->manifest;
  EXPECT_EQ(newest.next_step, Step{2});  // "once", "anew".
  EXPECT_EQ(newest.tail.back().incarnation, third.incarnation());
  EXPECT_TRUE(VerifyStream(stream_, {.deep = true})->ok());
}

// Covers M7.
TEST_F(StreamProducerTest, HolderOfANameWhoseRowWentIsFencedThoughNobodyOpenedItAgain) {
  Producer zombie = *stream_.OpenProducer("task");
  static_cast<void>(RunOnce("task", "once"));
  TrimAll();
  PassVersions(1000);
  OpenManyProducers();
  ASSERT_FALSE(IsKnown("task"));
  ASSERT_THAT(Publish(zombie, "late"), IsOkAndHolds(1u));
  EXPECT_THAT(zombie.Flush(), IsError(ErrorCode::kFenced));
  EXPECT_EQ(stream_.log().ReadNewest()->manifest.next_step, Step{1});
}

// It may go only once no earlier opening of its name can come late.
// Covers M7.
TEST_F(StreamProducerTest, RowStaysForAThousandVersions) {
  static_cast<void>(RunOnce("task", "once"));
  PassVersions(900);
  TrimAll();
  OpenManyProducers();
  EXPECT_TRUE(IsKnown("task"));
  EXPECT_THAT(stream_.OpenProducer("task"), IsError(ErrorCode::kAlreadyExists, HasSubstr("task")));
}

TEST_F(StreamProducerTest, OptionsThatCannotWorkAreRefusedBeforeAnythingIsCommitted) {
  const Version before = stream_.log().ReadNewest()->manifest.version;
  for (const uint32_t threads : {0u, 65u}) {
    EXPECT_THAT(stream_.OpenProducer("a", {.upload_threads = threads}),
                IsError(ErrorCode::kInvalidArgument, HasSubstr(fmt::format("from 1 to 64: found={}", threads))));
  }
  EXPECT_THAT(stream_.OpenProducer("a", {.stall_after = {}}),
              IsError(ErrorCode::kInvalidArgument, HasSubstr("stall_after is above 0")));
  EXPECT_EQ(stream_.log().ReadNewest()->manifest.version, before);
  EXPECT_THAT(stream_.OpenProducer("a", {.upload_threads = 64}), IsOk());
}

}  // namespace
}  // namespace batchweave
