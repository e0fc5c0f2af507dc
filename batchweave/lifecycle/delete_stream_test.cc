#include "batchweave/lifecycle/delete_stream.h"

#include <gmock/gmock.h>

#include "batchweave/lifecycle/group.h"
#include "batchweave/store/memory_store.h"
#include "batchweave/testing/begun_uploads.h"
#include "batchweave/testing/corrupting_store.h"
#include "batchweave/testing/faulty_store.h"
#include "batchweave/testing/leftover_store.h"
#include "batchweave/testing/live_stream.h"
#include "batchweave/testing/matchers.h"

namespace batchweave {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kJson = "run/stream.json";

void Fill(LiveStream& stream) {
  stream.Open("tok");
  stream.Append("tok", 4);
  stream.Archive(2);
  stream.Tick(3);
}

bool IsMarked(ObjectStore& store) {
  const Result<Bytes> json = store.Read(kJson);
  const Result<StreamInfo> info = DecodeStreamInfo(*json);
  EXPECT_THAT(info, IsOk());
  return info->deleted;
}

class DeleteStreamTest : public ::testing::TestWithParam<bool> {
 protected:
  DeleteStreamTest() { Fill(stream_); }
  Result<DeleteReport> Delete() { return DeleteStream(stream_.env(), "run", kForever); }

  MemoryStore store_{{.ordered_list = GetParam()}};
  BegunUploads uploads_;
  LiveStream stream_{store_, &uploads_};
};

INSTANTIATE_TEST_SUITE_P(Stores, DeleteStreamTest, ::testing::Bool(),
                         [](const auto& param) { return param.param ? "ordered" : "unordered"; });

// Covers M6.
TEST_P(DeleteStreamTest, LeavesOnlyTheMarkedName) {
  const size_t objects = stream_.Keys().size();
  const Result<DeleteReport> report = Delete();
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->objects, objects) << "all but stream.json, and the version that says deleted";
  EXPECT_THAT(stream_.Keys(), ElementsAre(kJson));
  EXPECT_TRUE(IsMarked(store_));
  EXPECT_THAT(Delete(), IsOk());
}

TEST_P(DeleteStreamTest, AbortsWhatWasBegunToBeUploaded) {
  const std::string foreign = stream_.keys().DataPrefix() + "notes.txt";
  uploads_.Begin(stream_.keys().Data("tok", Incarnation{1}, 5, 7));
  uploads_.Begin(foreign);
  EXPECT_THAT(Delete(), IsOk());
  EXPECT_THAT(uploads_.Keys(), ElementsAre(foreign));
  uploads_.Begin(stream_.keys().Data("tok", Incarnation{1}, 6, 7));  // By one who does not know yet.
  EXPECT_THAT(Delete(), IsOk());
  EXPECT_THAT(uploads_.Keys(), ElementsAre(foreign));
}

TEST_P(DeleteStreamTest, WhatFailsOfUploadsIsToldAndTheNextRunEndsIt) {
  uploads_.Begin(stream_.keys().Data("tok", Incarnation{1}, 5, 7));
  for (const int call : {1, 2}) {  // The list; the abort.
    uploads_.FailCall(call);
    const Result<DeleteReport> report = Delete();
    ASSERT_THAT(report, IsOk());
    ASSERT_TRUE(report->uploads_error);
    EXPECT_EQ(report->uploads_error->code, ErrorCode::kDenied);
    EXPECT_THAT(stream_.Keys(), ElementsAre(kJson)) << "all else is done";
  }
  EXPECT_FALSE(Delete()->uploads_error);
  EXPECT_THAT(uploads_.Keys(), ::testing::IsEmpty());
}

TEST_P(DeleteStreamTest, OpenHandlesAnswerNotFound) {
  ManifestLog handle = stream_.LogOver(store_);
  ASSERT_THAT(handle.ReadNewest(), IsOk());
  ASSERT_THAT(Delete(), IsOk());
  EXPECT_THAT(handle.ReadNewest(), IsError(ErrorCode::kNotFound));
  EXPECT_THAT(CreateGroup(handle, "train", Step{0}, kForever), IsError(ErrorCode::kNotFound));
}

TEST_P(DeleteStreamTest, WhatIsNotOursStays) {
  const std::string foreign = stream_.keys().DataPrefix() + "notes.txt";
  ASSERT_THAT(PutBytes(store_, foreign, AsBytes("mine"), PutMode::kCreate), IsOk());
  EXPECT_EQ(Delete()->not_understood, 1u);
  EXPECT_THAT(stream_.Keys(), UnorderedElementsAre(foreign, kJson));
}

// A gateway's key among the versions; another tool's before and behind them.
TEST_P(DeleteStreamTest, WhatIsNotOursAmongTheVersionsStays) {
  const std::string folder = stream_.keys().ManifestPrefix();
  const std::vector<std::string> foreign = {folder + "00", folder + "zz"};
  for (const std::string& key : foreign) ASSERT_THAT(PutBytes(store_, key, AsBytes("x"), PutMode::kCreate), IsOk());
  LeftoverStore store(store_, folder + ".version.sgwtmp.17");
  TestEnv env;
  const Result<DeleteReport> report = DeleteStream(env.Over(store), "run", kForever);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->not_understood, 3u);
  EXPECT_THAT(stream_.Keys(), UnorderedElementsAre(foreign[0], foreign[1], kJson));
}

// Another id would be a stream with nothing to delete, and the mark would name it.
// Covers F3.
TEST_P(DeleteStreamTest, AnIdThatWasDamagedOnTheWayIsReadAgain) {
  constexpr std::string_view kBeforeId = "\"stream_id\": \"";
  const Bytes json = *store_.Read(kJson);
  CorruptingStore store(store_, {.position = AsText(json).find(kBeforeId) + kBeforeId.size(),
                                 .reads = 1,
                                 .filter = {.key = KeyContains("stream.json")}});
  TestEnv env;
  EXPECT_THAT(DeleteStream(env.Over(store), "run", kForever), IsOk());
  EXPECT_EQ(store.corrupted(), 1u);
  EXPECT_THAT(stream_.Keys(), ElementsAre(kJson));
}

TEST_P(DeleteStreamTest, WithoutTheRightToDeleteItSaysSoAndEndsOnceItHasIt) {
  FaultyStore store(
      store_,
      {.fail_call = 1, .calls = Fault::kAllCalls, .code = ErrorCode::kDenied, .filter = {.calls = kCallDelete}});
  TestEnv env;
  const std::vector<std::string> before = stream_.Keys();
  EXPECT_THAT(DeleteStream(env.Over(store), "run", kForever),
              IsError(ErrorCode::kDenied, HasSubstr("the right to delete is missing")));
  EXPECT_EQ(stream_.Keys().size(), before.size() + 1) << "all, and the version that says it";
  EXPECT_THAT(Delete(), IsOk());
  EXPECT_THAT(stream_.Keys(), ElementsAre(kJson));
}

TEST_P(DeleteStreamTest, TellsWhatIsWrong) {
  EXPECT_THAT(DeleteStream(stream_.env(), "other", kForever), IsError(ErrorCode::kNotFound));
  EXPECT_THAT(DeleteStream(stream_.env(), "../run", kForever), IsError(ErrorCode::kInvalidArgument));
  stream_.Change([](Manifest& next) { next.writer_features = uint64_t{1} << 63; });
  EXPECT_THAT(Delete(), IsError(ErrorCode::kIncompatible));
  EXPECT_FALSE(IsMarked(store_));
}

TEST(DeleteStreamSweepTest, ThatFailsAnywhereIsEndedByTheNextRunAndNeverShowsAYoungerStream) {
  ForEachFailure([](const Fault& fault) {
    MemoryStore memory;
    LiveStream stream(memory);
    Fill(stream);
    FaultyStore store(memory, fault);
    TestEnv env;
    const Result<DeleteReport> first = DeleteStream(env.Over(store), "run", kForever);
    // Whoever still has a handle sees the stream as it was, or that it is gone.
    const Result<LoggedManifest> seen = stream.log().ReadNewest();
    if (seen.ok()) {
      EXPECT_EQ(seen->manifest.next_step, Step{4});
    } else {
      EXPECT_THAT(seen, IsError(ErrorCode::kNotFound));
    }
    EXPECT_THAT(DeleteStream(env.Over(memory), "run", kForever), IsOk());
    EXPECT_THAT(stream.Keys(), ElementsAre(kJson));
    return store.fired();
  });
}

}  // namespace
}  // namespace batchweave
