// Buckets that keep what is deleted or overwritten: a stream lives there as anywhere, only its space does not come back.
#include "batchweave/lifecycle/reclaim.h"
#include "tests/cloud/stream_on_server.h"

namespace batchweave {
namespace {

const ServerCase kBuckets[] = {{"versioned", LocalServer::VersitygwVersioned},
                               {"locked", LocalServer::VersitygwLocked},
                               {"versioned_minio", LocalServer::MinioVersioned},
                               {"locked_minio", LocalServer::MinioLocked}};

using BucketSettingsTest = StreamOnServer;
INSTANTIATE_TEST_SUITE_P(Cloud, BucketSettingsTest, ::testing::ValuesIn(kBuckets), ServerName);

TEST_P(BucketSettingsTest, AStreamLivesThereAsAnywhere) {
  constexpr uint64_t kBatches = 80;  // More versions than stay: some become tombstones.
  ASSERT_THAT(stream_->CreateGroup("train", Step{0}), IsOk());
  Publish(kBatches);
  Group group = stream_->OpenGroup("train", {.start = Step{50}}).value();
  ASSERT_THAT(group.Checkpoint("model", Step{50}, {.keep_last = 1}), IsOk());
  const Result<ReclaimReport> report = Reclaim(stream_->log());
  ASSERT_THAT(report, IsOk());
  EXPECT_GT(report->tombstones, 0u);
  ExpectWhole(50, kBatches);
  ExpectRead(50, kBatches);
  EXPECT_EQ(DataObjects(), kBatches - 50);
}

}  // namespace
}  // namespace batchweave
