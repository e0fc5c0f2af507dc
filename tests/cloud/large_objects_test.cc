// Objects that go in parts and ranges that come in parts, reads that are asked for twice, and uploads that are damaged.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <numeric>
#include <thread>

#include "batchweave/testing/local_server.h"
#include "batchweave/testing/matchers.h"
#include "tests/cloud/fault_proxy.h"

namespace batchweave {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr size_t kMiB = size_t{1} << 20;

Bytes Pattern(size_t size_bytes, unsigned seed) {
  Bytes bytes(size_bytes);
  for (size_t i = 0; i < size_bytes; ++i) bytes[i] = static_cast<std::byte>((i * 31 + (i >> 12) + seed) & 255);
  return bytes;
}

class LargeObjectsTest : public ::testing::TestWithParam<ServerCase> {
 protected:
  void SetUp() override {
    server_ = GetParam().start();
    if (server_ == nullptr) GTEST_SKIP() << "not installed";
    proxy_.emplace(server_->port());
    store_ = OpenBehindProxy({{"upload_parts_above_bytes", std::to_string(6 * kMiB)},
                              {"part_bytes", std::to_string(5 * kMiB)},
                              {"request_timeout_ms", "3000"}});
  }

  std::unique_ptr<CloudStore> OpenBehindProxy(const StorageOptions& more) {
    StorageOptions options = server_->options();
    options.insert(options.end(), more.begin(), more.end());
    return OpenCloudStore(server_->Url("large", proxy_->port()), options, clock_, random_).value();
  }

  // Only what is sent in parts has them.
  bool HasParts() const { return GetParam().name != "gcs_stub"; }

  Result<void> Create(const Bytes& bytes) { return PutBytes(*store_, "a/key", bytes, PutMode::kCreate); }

  // Counts the requests that `is_counted`, and does `fault` to the first of them.
  void BreakFirst(const Fault& fault, std::function<bool(const HttpMessage&)> is_counted) {
    proxy_->Set([this, fault, is_counted = std::move(is_counted)](const HttpMessage& request) {
      return is_counted(request) && ++counted_ == 1 ? fault : Fault{};
    });
  }

  static bool IsPart(const HttpMessage& request) {
    return request.method() == "PUT" && (request.target().find("partNumber=") != std::string_view::npos ||
                                         request.target().find("comp=block&") != std::string_view::npos);
  }
  static bool IsComplete(const HttpMessage& request) {
    return (request.method() == "POST" && request.target().find("uploadId=") != std::string_view::npos) ||
           request.target().find("comp=blocklist") != std::string_view::npos;
  }
  static bool IsGet(const HttpMessage& request) { return request.method() == "GET"; }

  SystemClock clock_;
  SystemRandom random_;
  std::unique_ptr<LocalServer> server_;
  std::optional<FaultProxy> proxy_;
  std::unique_ptr<CloudStore> store_;
  std::atomic<int> counted_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Cloud, LargeObjectsTest, ::testing::ValuesIn(kServers), ServerName);

TEST_P(LargeObjectsTest, APutInPartsIsCreateOnlyAsAnyOther) {
  const Bytes first = Pattern(12 * kMiB + 7, 1);
  BreakFirst({}, IsPart);
  ASSERT_THAT(Create(first), IsOk());
  EXPECT_EQ(counted_, HasParts() ? 3 : 0);
  EXPECT_THAT(Create(Pattern(12 * kMiB, 2)), IsError(ErrorCode::kAlreadyExists));
  EXPECT_THAT(Create(ToBytes("small")), IsError(ErrorCode::kAlreadyExists));
  EXPECT_TRUE(store_->Read("a/key").value() == first);
  const Bytes second = Pattern(11 * kMiB, 3);
  ASSERT_THAT(PutBytes(*store_, "a/key", second, PutMode::kOverwrite), IsOk());
  EXPECT_TRUE(store_->Read("a/key").value() == second);
}

// Covers F1.
TEST_P(LargeObjectsTest, OfCreatorsInPartsThatRaceOneWins) {
  constexpr unsigned kCreators = 4;
  std::vector<ErrorCode> lost;
  std::vector<unsigned> won;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kCreators; ++i) {
    threads.emplace_back([&, i] {
      const Result<void> put = Create(Pattern(7 * kMiB, i));
      const std::lock_guard lock(mutex);
      put.ok() ? won.push_back(i) : lost.push_back(put.error().code);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(won.size(), 1u);
  // Whose request met another is told to look.
  EXPECT_THAT(lost, ::testing::Each(AnyOf(ErrorCode::kAlreadyExists, ErrorCode::kUnknownOutcome)));
  EXPECT_TRUE(store_->Read("a/key").value() == Pattern(7 * kMiB, won.front()));
}

// Covers A3, A4.
TEST_P(LargeObjectsTest, APartThatFailsIsSentAgainAndNoOther) {
  if (!HasParts()) GTEST_SKIP() << "it takes no parts";
  const Bytes bytes = Pattern(12 * kMiB, 1);
  for (const Fault& fault : {Fault{FaultKind::kLostRequest}, Fault{FaultKind::kLostAnswer},
                             Fault{FaultKind::kFlippedSent}, Fault{FaultKind::kStatus, 503, "SlowDown"}}) {
    counted_ = 0;
    BreakFirst(fault, IsPart);
    ASSERT_THAT(PutBytes(*store_, "a/key", bytes, PutMode::kOverwrite), IsOk());
    EXPECT_EQ(counted_, 4);
    EXPECT_TRUE(store_->Read("a/key").value() == bytes);
  }
}

// Covers A1, A3.
TEST_P(LargeObjectsTest, WhereTheLastAnswerIsLostTheOutcomeIsUnknown) {
  if (!HasParts()) GTEST_SKIP() << "it takes no parts";
  const Bytes bytes = Pattern(7 * kMiB, 1);
  BreakFirst({FaultKind::kLostAnswer}, IsComplete);
  EXPECT_THAT(Create(bytes), IsError(ErrorCode::kUnknownOutcome));
  EXPECT_EQ(counted_, 1);
  EXPECT_THAT(Create(bytes), IsError(ErrorCode::kAlreadyExists));
  EXPECT_TRUE(store_->Read("a/key").value() == bytes);
}

TEST_P(LargeObjectsTest, AnUploadThatIsGivenUpLeavesNothing) {
  if (!HasParts()) GTEST_SKIP() << "it takes no parts";
  std::atomic<int> aborts = 0;
  proxy_->Set([&](const HttpMessage& request) {
    if (request.method() == "DELETE") ++aborts;
    return IsPart(request) ? Fault{FaultKind::kStatus, 403, "AccessDenied"} : Fault{};
  });
  EXPECT_THAT(Create(Pattern(7 * kMiB, 1)), IsError(ErrorCode::kDenied));
  EXPECT_EQ(aborts, GetParam().name == "azurite" ? 0 : 1);  // Azure forgets them by itself.
  EXPECT_THAT(store_->Stat("a/key"), IsError(ErrorCode::kNotFound));
  EXPECT_THAT(store_->List("", "", 10), IsOk());
  EXPECT_TRUE(store_->List("", "", 10).value().objects.empty());
}

// Takes down what it is told.
class Recorder final : public ReadObserver {
 public:
  void OnBytes(ByteView piece) override { bytes.insert(bytes.end(), piece.begin(), piece.end()); }
  void OnRestart() override { bytes.clear(); }
  Bytes bytes;
};

Result<size_t> ReadRange(ObjectStore& store, uint64_t offset, Bytes& buffer, Recorder& recorder) {
  ReadRequest request{.key = "a/key", .offset = offset, .buffer = buffer, .observer = &recorder};
  BW_TRY(store.Get({&request, 1}));
  return request.received_bytes;
}

// Covers F2.
TEST_P(LargeObjectsTest, ALargeRangeComesInPartsAndIsToldInOrder) {
  const Bytes bytes = Pattern(25 * kMiB, 1);
  ASSERT_THAT(Create(bytes), IsOk());
  for (const Fault& fault : {Fault{}, Fault{FaultKind::kCutAnswer}, Fault{FaultKind::kStatus, 500, "InternalError"}}) {
    counted_ = 0;
    BreakFirst(fault, IsGet);
    Bytes buffer(20 * kMiB);
    Recorder recorder;
    ASSERT_THAT(ReadRange(*store_, 3 * kMiB, buffer, recorder), IsOkAndHolds(buffer.size()));
    EXPECT_TRUE(std::equal(buffer.begin(), buffer.end(), bytes.begin() + 3 * kMiB));
    EXPECT_TRUE(recorder.bytes == buffer);
    EXPECT_GE(counted_, 3);
  }
  // The object ends within the second part.
  Bytes buffer(20 * kMiB);
  Recorder recorder;
  ASSERT_THAT(ReadRange(*store_, 15 * kMiB, buffer, recorder), IsOkAndHolds(10 * kMiB));
  EXPECT_TRUE(std::equal(bytes.begin() + 15 * kMiB, bytes.end(), buffer.begin()));
  EXPECT_EQ(recorder.bytes.size(), 10 * kMiB);
}

constexpr int kReadsBeforeHedges = 64;

TEST_P(LargeObjectsTest, ASlowReadIsAskedForOnceMoreAndTheFirstAnswerCounts) {
  const Bytes bytes = Pattern(100'000, 1);
  ASSERT_THAT(Create(bytes), IsOk());
  Bytes buffer(bytes.size());
  Recorder recorder;
  for (int i = 0; i < kReadsBeforeHedges; ++i) ASSERT_THAT(ReadRange(*store_, 0, buffer, recorder), IsOk());
  for (const FaultKind kind : {FaultKind::kNoAnswer, FaultKind::kStalledAnswer}) {
    recorder.bytes.clear();
    counted_ = 0;
    const CloudReads before = store_->reads();
    BreakFirst({kind}, IsGet);
    ASSERT_THAT(ReadRange(*store_, 0, buffer, recorder), IsOkAndHolds(bytes.size()));
    EXPECT_TRUE(buffer == bytes);
    EXPECT_TRUE(recorder.bytes == bytes);
    EXPECT_EQ(counted_, 2);
    EXPECT_EQ(store_->reads().ranges - before.ranges, 1u);
    EXPECT_EQ(store_->reads().hedged - before.hedged, 1u);
  }
}

TEST_P(LargeObjectsTest, AtMostOneReadOfTwentyIsAskedForTwice) {
  const std::unique_ptr<CloudStore> hasty = OpenBehindProxy({{"request_timeout_ms", "200"}});
  ASSERT_THAT(Create(Pattern(100'000, 1)), IsOk());
  Bytes buffer(100'000);
  Recorder recorder;
  for (int i = 0; i < kReadsBeforeHedges; ++i) ASSERT_THAT(ReadRange(*hasty, 0, buffer, recorder), IsOk());
  for (int i = 0; i < 12; ++i) {
    counted_ = 0;
    BreakFirst({FaultKind::kNoAnswer}, IsGet);
    ASSERT_THAT(ReadRange(*hasty, 0, buffer, recorder), IsOk());
  }
  EXPECT_GT(hasty->reads().hedged, 0u);
  EXPECT_LE(hasty->reads().hedged * 20, hasty->reads().ranges);
}

// Covers F3.
TEST_P(LargeObjectsTest, WhatIsDamagedOnItsWayToTheServerIsNotTaken) {
  for (const PutMode mode : {PutMode::kCreate, PutMode::kOverwrite}) {
    counted_ = 0;
    BreakFirst({FaultKind::kFlippedSent}, [](const HttpMessage& request) { return request.method() == "PUT"; });
    EXPECT_THAT(PutBytes(*store_, "a/key", Pattern(1000, 1), mode),
                IsError(ErrorCode::kUnavailable, HasSubstr("status=400")));
    EXPECT_THAT(store_->Stat("a/key"), IsError(ErrorCode::kNotFound));
  }
  EXPECT_THAT(Create(Pattern(1000, 1)), IsOk());
}

}  // namespace
}  // namespace batchweave
