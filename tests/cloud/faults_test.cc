// A network and servers that fail, between our client and a real server: nothing is lost, nothing appears twice.
#include <random>

#include "batchweave/lifecycle/reclaim.h"
#include "tests/cloud/fault_proxy.h"
#include "tests/cloud/stream_on_server.h"

namespace batchweave {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::SizeIs;

// Commits that the log tries in one row are bounded: at most so many of them meet a fault.
constexpr size_t kFaultsInARow = 2;

bool IsPutOf(const HttpMessage& request, std::string_view folder) {
  return request.method() == "PUT" && request.target().find(folder) != std::string_view::npos;
}

// What may befall a put that then is, or is not, applied.
std::vector<Fault> FaultsOfPuts() {
  std::vector<Fault> faults;
  for (const FaultKind kind : {FaultKind::kLostRequest, FaultKind::kLostAnswer, FaultKind::kCutAnswer,
                               FaultKind::kNoAnswer, FaultKind::kTwice, FaultKind::kFlippedSent}) {
    faults.push_back({kind});
  }
  for (const FaultKind kind : {FaultKind::kStatus, FaultKind::kStatusAfter}) {
    faults.push_back({kind, 409, "ConditionalRequestConflict"});
    faults.push_back({kind, 429, "TooManyRequests"});
    faults.push_back({kind, 500, "InternalError"});
    faults.push_back({kind, 502, "BadGateway"});
    faults.push_back({kind, 503, "SlowDown"});
    faults.push_back({kind, 504, "GatewayTimeout"});
  }
  return faults;
}

class CloudFaultsTest : public StreamOnServer {
 protected:
  void SetUp() override {
    StreamOnServer::SetUp();
    if (IsSkipped()) return;
    proxy_.emplace(server_->port());
    StorageOptions options = server_->options();
    options.emplace_back("request_timeout_ms", "300");
    proxied_env_ = OpenEnv(server_->Url("runs", proxy_->port()), {.storage_options = options}).value();
    proxied_.emplace(Stream::Open(proxied_env_->env(), "run").value());
  }

  // Every so-many-th of the requests that `is_hit` says meets `fault`.
  void Break(const Fault& fault, size_t every, std::function<bool(const HttpMessage&)> is_hit) {
    proxy_->Set([fault, every, is_hit = std::move(is_hit), seen = size_t{0}](const HttpMessage& request) mutable {
      return is_hit(request) && ++seen % every == 0 ? fault : Fault{};
    });
  }

  // Each other commit is given up, and reaches the server only just before the next request by `method` for a version.
  void LandLateBefore(std::string_view method) {
    proxy_->Set([method, commits = 0, is_held = false](const HttpMessage& request) mutable -> Fault {
      if (request.target().find("manifest") == std::string_view::npos) return {};
      if (is_held) {
        if (request.method() != method) return {};
        is_held = false;
        return {FaultKind::kAfterHeld};
      }
      is_held = request.method() == "PUT" && ++commits % 2 == 0;
      return {is_held ? FaultKind::kHeld : FaultKind::kNone};
    });
  }

  void AwaitHeld() {
    SystemClock clock;
    while (proxy_->held() == 0) clock.SleepUntil(After(clock.Now(), std::chrono::milliseconds(5)));
  }

  void ExpectAllThoughEachOtherLandsLateBefore(std::string_view method) {
    LandLateBefore(method);
    Publish(*proxied_, 12);
    EXPECT_THAT(proxy_->late(), AllOf(SizeIs(Ge(6u)), Each(AnyOf(200, 201))));
    ExpectRead(0, 12);
    ExpectWhole(0, 12);
  }

  // A producer that has published the batch of that number, of which the commit is held.
  Producer PublishHeld(uint64_t number) {
    Producer slow = proxied_->OpenProducer("slow").value();
    Break({FaultKind::kHeld}, 1, [](const HttpMessage& request) { return IsPutOf(request, "manifest"); });
    EXPECT_THAT(slow.Publish(Batch(number), {.cursor = ToBytes("1")}), IsOk());
    AwaitHeld();
    return slow;
  }

  // One of so many requests meets a fault of any kind.
  void FailAtRandom(uint32_t one_of) {
    proxy_->Set([one_of, random = std::minstd_rand(7), in_a_row = size_t{0}](const HttpMessage&) mutable -> Fault {
      const std::vector<Fault> faults = FaultsOfPuts();
      const bool fails = random() % one_of == 0 && in_a_row < kFaultsInARow;
      in_a_row = fails ? in_a_row + 1 : 0;
      return fails ? faults[random() % faults.size()] : Fault{};
    });
  }

  std::optional<FaultProxy> proxy_;
  std::unique_ptr<OwnedEnv> proxied_env_;
  std::optional<Stream> proxied_;  // The stream, by way of the proxy.
};

INSTANTIATE_TEST_SUITE_P(Cloud, CloudFaultsTest, ::testing::ValuesIn(kServers), ServerName);

// Covers A1, A3, A4, A5, A6, E5.
TEST_P(CloudFaultsTest, ACommitWhoseRequestOrAnswerFailsIsACommitAllTheSame) {
  uint64_t end = 0;
  for (const Fault& fault : FaultsOfPuts()) {
    const size_t before = proxy_->faults();
    Break(fault, 2, [](const HttpMessage& request) { return IsPutOf(request, "manifest"); });
    Publish(*proxied_, end += 4);
    EXPECT_GE(proxy_->faults(), before + 2) << "the fault was not met";
  }
  ExpectRead(0, end);
  ExpectWhole(0, end);
}

// Covers A1, A3, A4, E5.
TEST_P(CloudFaultsTest, AnUploadWhoseRequestOrAnswerFailsIsDoneOnce) {
  uint64_t end = 0;
  for (const Fault& fault : FaultsOfPuts()) {
    const size_t before = proxy_->faults();
    Break(fault, 2, [](const HttpMessage& request) { return IsPutOf(request, "data"); });
    Publish(*proxied_, end += 4);
    EXPECT_GE(proxy_->faults(), before + 2) << "the fault was not met";
  }
  ExpectWhole(0, end);
  EXPECT_EQ(DataObjects(), end);
}

// Covers A7.
TEST_P(CloudFaultsTest, ADenialIsToldAndNotTakenForALostRace) {
  Publish(*proxied_, 2);
  Break({FaultKind::kStatus, 403, "AccessDenied"}, 1,
        [](const HttpMessage& request) { return IsPutOf(request, "manifest"); });
  EXPECT_THAT(proxied_->OpenProducer("a"), IsError(ErrorCode::kDenied, ::testing::HasSubstr("status=403")));
  proxy_->Set(nullptr);
  Publish(*proxied_, 4);
  ExpectRead(0, 4);
  ExpectWhole(0, 4);
}

// Covers A2.
TEST_P(CloudFaultsTest, ACommitThatLandsLateIsTheOneThatWasSentAgain) {
  Break({FaultKind::kHeld}, 2, [](const HttpMessage& request) { return IsPutOf(request, "manifest"); });
  Publish(*proxied_, 6);
  proxy_->Set(nullptr);
  ASSERT_GT(proxy_->held(), 0u);
  EXPECT_THAT(proxy_->DeliverHeld(), Each(AnyOf(412, 409)));  // Taken: by itself.
  ExpectRead(0, 6);
  ExpectWhole(0, 6);
}

// Before its committer has looked whether it did.
// Covers A2.
TEST_P(CloudFaultsTest, ACommitThatLandsBeforeItIsReadBackIsFound) { ExpectAllThoughEachOtherLandsLateBefore("GET"); }

// Its committer has seen that the slot is empty, and sends the same again.
// Covers A2, A5.
TEST_P(CloudFaultsTest, ACommitThatLandsBeforeItIsSentAgainIsKnownAgain) {
  ExpectAllThoughEachOtherLandsLateBefore("PUT");
}

// Covers A2.
TEST_P(CloudFaultsTest, ACommitThatLandsLateWhereARivalWasIsCommittedAfterIt) {
  Producer slow = PublishHeld(3);
  Publish(3);
  EXPECT_THAT(proxy_->DeliverHeld().front(), AnyOf(412, 409));
  proxy_->Set(nullptr);
  EXPECT_THAT(slow.Flush(), IsOk());
  ExpectRead(0, 4);
  ExpectWhole(0, 4);
}

// A producer that hangs between its upload and its commit, through a reclaim.
// Covers A2, D1.
TEST_P(CloudFaultsTest, WhatCanStillBeCommittedIsNotReclaimed) {
  Publish(3);
  Producer slow = PublishHeld(3);
  ASSERT_THAT(Reclaim(stream_->log()), IsOk());
  const std::vector<int> statuses = proxy_->DeliverHeld();
  EXPECT_THAT(statuses.front(), AnyOf(200, 201));
  proxy_->Set(nullptr);
  EXPECT_THAT(slow.Flush(), IsOk());
  ExpectRead(0, 4);
  ExpectWhole(0, 4);
}

// Covers B1.
TEST_P(CloudFaultsTest, ACommitThatSleptThroughAReclaimFindsItsSlotTaken) {
  ASSERT_THAT(stream_->CreateGroup("train", Step{0}), IsOk());
  Producer slow = PublishHeld(99);
  slow.Close();
  constexpr uint64_t kBatches = 80;  // More versions than stay.
  Publish(kBatches);
  Group group = stream_->OpenGroup("train", {.start = Step{70}}).value();
  ASSERT_THAT(group.Checkpoint("model", Step{70}, {.keep_last = 1}), IsOk());
  const Result<ReclaimReport> report = Reclaim(stream_->log());
  ASSERT_THAT(report, IsOk());
  EXPECT_GT(report->tombstones, 0u);
  EXPECT_THAT(proxy_->DeliverHeld(), Each(AnyOf(412, 409)));
  ExpectWhole(70, kBatches);
  ExpectRead(70, kBatches);
}

// Whoever dies in the middle of an upload in parts can neither complete it nor abort it.
// Covers D1, I9.
TEST_P(CloudFaultsTest, PartsThatADeadProcessLeftAreReclaimedOnceNobodyCanNameThem) {
  if (GetParam().name != "versitygw") GTEST_SKIP() << "it keeps no parts for long, or none at all";
  const auto left = [&] { return env().uploads->ListUnfinished("run/").value().size(); };
  const auto reclaimed = [&] { return Reclaim(stream_->log()).value().uploads; };
  proxy_->Set([](const HttpMessage& request) {
    const bool is_end = request.method() == "POST" || request.method() == "DELETE";
    return is_end && request.target().find("uploadId=") != std::string_view::npos
               ? Fault{FaultKind::kStatus, 403, "AccessDenied"}
               : Fault{};
  });
  StorageOptions options = server_->options();
  options.insert(options.end(), {{"upload_parts_above_bytes", "6000000"}, {"part_bytes", "5500000"}});
  {
    const auto dying_env = OpenEnv(server_->Url("runs", proxy_->port()), {.storage_options = options}).value();
    Stream stream = Stream::Open(dying_env->env(), "run").value();
    Producer dying = stream.OpenProducer("a").value();
    GlobalBatch large({.dp = 1, .cp = 1});
    ASSERT_THAT(large.Set({}, Bytes(7'000'000)), IsOk());
    ASSERT_THAT(dying.Publish(std::move(large), {.cursor = ToBytes("1")}), IsOk());
    EXPECT_THAT(dying.Flush(), IsError(ErrorCode::kDenied));
  }
  ASSERT_EQ(left(), 1u);
  EXPECT_EQ(reclaimed(), 0u) << "its incarnation may still come to name it";
  EXPECT_EQ(left(), 1u);
  Publish(1);
  EXPECT_EQ(reclaimed(), 1u);
  EXPECT_EQ(left(), 0u);
  ExpectRead(0, 1);
}

// Covers F2, F3.
TEST_P(CloudFaultsTest, WhatIsReadCutOrAlteredIsReadAgain) {
  Publish(20);
  const auto is_read = [](const HttpMessage& request) { return request.method() == "GET"; };
  for (const Fault& fault : {Fault{FaultKind::kCutAnswer}, Fault{FaultKind::kLostAnswer}, Fault{FaultKind::kNoAnswer},
                             Fault{FaultKind::kStatus, 503, "SlowDown"}}) {
    Break(fault, 4, is_read);
    ExpectRead(*proxied_, 0, 20);
  }
  Break({FaultKind::kFlippedRead}, 4, [](const HttpMessage& request) {
    return request.method() == "GET" && request.target().find("data") != std::string_view::npos;
  });
  ExpectRead(*proxied_, 0, 20);
}

// Covers A1, A2, A3, A4, A5, D1, D8, E5, F3.
TEST_P(CloudFaultsTest, AWholeRunOnALineThatFailsAtRandom) {
  ASSERT_THAT(stream_->CreateGroup("train", Step{0}), IsOk());
  FailAtRandom(6);
  constexpr uint64_t kBatches = 100;
  for (uint64_t end = 20; end <= kBatches; end += 20) {
    Publish(*proxied_, end);
    ExpectRead(*proxied_, end - 20, end);
  }
  Group group = proxied_->OpenGroup("train", {.start = Step{60}}).value();
  ASSERT_THAT(group.Checkpoint("model", Step{60}, {.keep_last = 1}), IsOk());
  // It may be cut short, and goes on where it stood.
  FailAtRandom(30);
  constexpr int kRunsMax = 20;
  Result<ReclaimReport> report = Reclaim(proxied_->log());
  for (int run = 1; run < kRunsMax && !report.ok(); ++run) {
    ASSERT_THAT(report, IsError(ErrorCode::kUnavailable));
    report = Reclaim(proxied_->log());
  }
  ASSERT_THAT(report, IsOk());
  EXPECT_GT(proxy_->faults(), kBatches / 2);
  proxy_->Set(nullptr);
  ExpectRead(60, kBatches);
  ExpectWhole(60, kBatches);
  EXPECT_EQ(DataObjects(), kBatches - 60);
}

}  // namespace
}  // namespace batchweave
