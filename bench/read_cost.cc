#include "bench/read_cost.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "batchweave/base/check.h"
#include "batchweave/store/metered_store.h"
#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "bench/sample_stream.h"

namespace batchweave::bench {
namespace {

constexpr const char* kStreamName = "cost";
constexpr Grid kGrid{.dp = 64, .cp = 1};
constexpr uint64_t kSliceBytes = kMiB;

// Steps before those that are measured, so that the manifest and its head have the size that they have in a long stream.
constexpr uint64_t kEarlierSteps = 500;
constexpr uint64_t kEarlierSliceBytes = 64;

Env WithStore(Env env, ObjectStore& store) {
  return {.store = store, .clock = env.clock, .random = env.random, .threads = env.threads};
}

struct Usage {
  uint64_t read_bytes = 0;
  uint64_t delivered_bytes = 0;
  double amplification() const { return static_cast<double>(read_bytes) / static_cast<double>(delivered_bytes); }
};

uint64_t BytesOf(const RankBatch& batch) {
  uint64_t bytes = 0;
  for (const Slice& slice : batch.slices()) bytes += slice.bytes.size();
  return bytes;
}

ConsumerOptions RankOptions(Step position, uint32_t rank, uint32_t ranks) {
  ConsumerOptions options{.position = position, .rank = {.dp_rank = rank, .dp_size = ranks}};
  options.prefetch_threads = 1;
  return options;
}

// One rank after the other reads `steps` steps that are all there.
Result<void> ReadBacklog(Env env, uint64_t steps, uint32_t ranks, ReadCost& cost) {
  Usage usage;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    MeteredStore all(env.store);
    MeteredStore payload(all, "/data/");
    Stream stream = BW_TRY(Stream::Open(WithStore(env, payload), kStreamName));
    Consumer consumer = BW_TRY(stream.OpenConsumer(RankOptions(Step{kEarlierSteps}, rank, ranks)));
    for (uint64_t i = 0; i < steps; ++i) {
      const std::optional<RankBatch> batch = BW_TRY(consumer.Next());
      BW_CHECK(batch.has_value());
      usage.delivered_bytes += BytesOf(*batch);
    }
    consumer.Close();
    usage.read_bytes += all.usage().bytes_read;
    const double gets = static_cast<double>(payload.usage().range_gets) / static_cast<double>(steps);
    cost.gets_per_step = std::max(cost.gets_per_step, gets);
  }
  cost.amplification_backlog = std::max(cost.amplification_backlog, usage.amplification());
  return {};
}

// All ranks have asked for the next step before it is committed.
Result<double> FollowLive(Env env, Producer& producer, uint64_t steps) {
  MeteredStore metered(env.store);
  Stream stream = BW_TRY(Stream::Open(WithStore(env, metered), kStreamName));
  std::vector<Consumer> ranks;
  for (uint32_t rank = 0; rank < kGrid.dp; ++rank) {
    ranks.push_back(BW_TRY(stream.OpenConsumer(RankOptions(Step{kEarlierSteps}, rank, kGrid.dp))));
    // Nothing is there yet; the call starts the rank's thread, which follows the log from now on.
    BW_CHECK(FailedWith(ranks.back().Next(env.clock.Now()), ErrorCode::kStalled));
  }
  const SamplePayload payload(env.random, {.grid = kGrid, .slice_bytes = kSliceBytes});
  Usage usage;
  for (uint64_t i = 0; i < steps; ++i) {
    BW_TRY(PublishAndCommit(producer, payload.MakeBatch()));
    for (Consumer& rank : ranks) {
      const std::optional<RankBatch> batch = BW_TRY(rank.Next());
      BW_CHECK(batch.has_value());
      usage.delivered_bytes += BytesOf(*batch);
    }
  }
  for (Consumer& rank : ranks) rank.Close();
  usage.read_bytes = metered.usage().bytes_read;
  return usage.amplification();
}

}  // namespace

Result<ReadCost> MeasureReadCost(const Workspace& workspace, uint64_t steps) {
  // Counts do not depend on when the disk has the bytes.
  const std::string folder = BW_TRY(workspace.Fresh("cost"));
  const auto owned = BW_TRY(OpenEnv(folder, {.durability = Durability::kNone}));
  const Env env = owned->env();
  Stream stream = BW_TRY(Stream::Create(env, kStreamName));
  Producer producer = BW_TRY(stream.OpenProducer("writer"));
  BW_TRY(PublishSteps(producer, SamplePayload(env.random, {.grid = kGrid, .slice_bytes = kEarlierSliceBytes}),
                      kEarlierSteps));
  ReadCost cost;
  cost.amplification_live = BW_TRY(FollowLive(env, producer, steps));
  for (const uint32_t ranks : {1u, 8u, 64u}) BW_TRY(ReadBacklog(env, steps, ranks, cost));

  MeteredStore metered(env.store);
  ManifestLog log(WithStore(env, metered), stream.log().keys(), {});
  BW_TRY(log.ReadNewest());
  cost.manifest_bytes = metered.usage().bytes_read;
  return cost;
}

}  // namespace batchweave::bench
