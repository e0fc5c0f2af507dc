// What docs/stores.md says that each may do is enough, and what is missing is named.
#include "batchweave/lifecycle/reclaim.h"
#include "tests/cloud/stream_on_server.h"

namespace batchweave {
namespace {

using ::testing::HasSubstr;
using Actions = std::vector<std::string>;

const Actions kRank = {"s3:GetObject", "s3:ListBucket"};
const Actions kProducer = {"s3:GetObject",
                           "s3:ListBucket",
                           "s3:PutObject",
                           "s3:AbortMultipartUpload",
                           "s3:DeleteObject=*/probe/*",
                           "s3:DeleteObject=*/intent/*"};
const Actions kOwner = {"s3:GetObject",    "s3:ListBucket",
                        "s3:PutObject",    "s3:AbortMultipartUpload",
                        "s3:DeleteObject", "s3:ListBucketMultipartUploads"};

class PermissionsTest : public StreamOnServer {
 protected:
  // The store as one sees it who may do `actions` and no more.
  Env Limited(const Actions& actions) {
    server_->Allow(actions);
    limited_ = OpenEnv(server_->Url("runs"), {.storage_options = server_->limited_options()}).value();
    return limited_->env();
  }

  static Actions Without(const std::string& action) {
    Actions left = kOwner;
    std::erase(left, action);
    return left;
  }

  static auto Denies(const std::string& advice) { return IsError(ErrorCode::kDenied, HasSubstr(advice)); }

  // Most of what is published can be reclaimed.
  void PublishAndRelease() {
    constexpr uint64_t kBatches = 80;  // More versions than stay.
    ASSERT_THAT(stream_->CreateGroup("train", Step{0}), IsOk());
    Publish(kBatches);
    Group group = stream_->OpenGroup("train", {.start = Step{50}}).value();
    ASSERT_THAT(group.Checkpoint("model", Step{50}, {.keep_last = 1}), IsOk());
  }

 private:
  std::unique_ptr<OwnedEnv> limited_;
};

INSTANTIATE_TEST_SUITE_P(Cloud, PermissionsTest,
                         ::testing::Values(ServerCase{"versitygw", LocalServer::VersitygwWithUser},
                                           ServerCase{"minio", LocalServer::Minio}),
                         ServerName);

TEST_P(PermissionsTest, ARankMayReadAndNoMore) {
  Publish(3);
  const Env rank = Limited(kRank);
  Stream stream = Stream::Open(rank, "run").value();
  ExpectRead(stream, 0, 3);
  EXPECT_THAT(VerifyStream(stream, {.deep = true}), IsOk());
  EXPECT_THAT(stream.OpenProducer("b"), Denies("writing is not permitted (S3: s3:PutObject"));
  EXPECT_THAT(Stream::Create(rank, "other"), Denies("s3:PutObject"));
}

TEST_P(PermissionsTest, AProducerMayPublish) {
  Stream stream = Stream::Open(Limited(kProducer), "run").value();
  Publish(stream, 3);
  ExpectRead(stream, 0, 3);
}

TEST_P(PermissionsTest, WithoutTheRightToDeleteNobodyCreatesOrReclaims) {
  PublishAndRelease();
  const Env env = Limited(Without("s3:DeleteObject"));
  EXPECT_THAT(Reclaim(Stream::Open(env, "run").value().log()),
              Denies("deleting is not permitted (S3: s3:DeleteObject"));
  EXPECT_THAT(Stream::Create(env, "other"), Denies("s3:DeleteObject"));
  const Env owner = Limited(kOwner);
  EXPECT_THAT(Stream::Create(owner, "another"), IsOk());
  EXPECT_THAT(Reclaim(Stream::Open(owner, "run").value().log()), IsOk());
}

TEST_P(PermissionsTest, WithoutTheRightToListUploadsReclaimSaysSoWhenAllElseIsDone) {
  if (GetParam().name == "minio") GTEST_SKIP() << "its user is nobody, and what is not signed does not ask for uploads";
  PublishAndRelease();
  const Env env = Limited(Without("s3:ListBucketMultipartUploads"));
  const Result<ReclaimReport> report = Reclaim(Stream::Open(env, "run").value().log());
  ASSERT_THAT(report, IsOk());
  ASSERT_TRUE(report->uploads_error);
  EXPECT_EQ(report->uploads_error->code, ErrorCode::kDenied);
  EXPECT_THAT(report->uploads_error->message,
              HasSubstr("listing uploads is not permitted (S3: s3:ListBucketMultipartUploads"));
  EXPECT_EQ(DataObjects(), 30u);
  const Result<ReclaimReport> again = Reclaim(stream_->log());
  ASSERT_THAT(again, IsOk());
  EXPECT_FALSE(again->uploads_error);
  EXPECT_EQ(again->objects + again->tombstones, 0u);
}

TEST_P(PermissionsTest, NoRightToList) {
  const Env env = Limited(Without("s3:ListBucket"));
  EXPECT_THAT(env.store.List("", "", 1), Denies("listing is not permitted (S3: s3:ListBucket"));
  EXPECT_THAT(Stream::Create(env, "other"), Denies("s3:ListBucket"));
}

TEST_P(PermissionsTest, NoRightToReadOrToWrite) {
  const Env reads_not = Limited(Without("s3:GetObject"));
  EXPECT_THAT(Stream::Open(reads_not, "run"), Denies("reading is not permitted (S3: s3:GetObject"));
  const Env writes_not = Limited(Without("s3:PutObject"));
  EXPECT_THAT(Stream::Create(writes_not, "other"), Denies("s3:PutObject"));
}

}  // namespace
}  // namespace batchweave
