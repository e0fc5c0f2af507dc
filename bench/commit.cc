// The benchmark `commit`: what committing a batch costs where nobody is in the way, and whether it grows with the stream.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "batchweave/store/metered_store.h"
#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "bench/benchmark.h"
#include "bench/commit_cost.h"
#include "bench/measure.h"
#include "bench/sample_stream.h"

namespace batchweave::bench {
namespace {

constexpr uint64_t kCommits = 200;

constexpr Target kCostTarget{.kind = Target::Kind::kAtMost, .limit = 1.4};

Result<Report> MeasureAlone() {
  Announce("a lone producer, one batch a commit");
  const auto owned = BW_TRY(OpenEnv("memory:"));
  MeteredStore all(owned->env().store);
  MeteredStore manifests(all, "/manifest/");
  Env parts = owned->env();
  const Env env{.store = manifests, .clock = parts.clock, .random = parts.random, .threads = parts.threads};
  Stream stream = BW_TRY(Stream::Create(env, "commit"));
  Producer producer = BW_TRY(stream.OpenProducer("alone"));
  const SamplePayload payload(env.random, {.grid = {.dp = 4, .cp = 2}, .slice_bytes = 1024});

  const StoreUsage all_before = all.usage();
  const StoreUsage manifests_before = manifests.usage();
  const Version version_before = BW_TRY(stream.log().FindNewest());
  std::vector<double> milliseconds;
  for (uint64_t i = 0; i < kCommits; ++i) {
    const TimePoint began = env.clock.Now();
    BW_TRY(PublishAndCommit(producer, payload.MakeBatch()));
    milliseconds.push_back(Seconds(env.clock.Now() - began) * 1e3);
  }
  const StoreUsage manifest_usage = manifests.usage() - manifests_before;
  const StoreUsage usage = all.usage() - all_before;
  const Version version_after = BW_TRY(stream.log().FindNewest());
  const auto commits = static_cast<double>(version_after.value - version_before.value);

  return Report{
      {.key = "manifest_puts_per_commit",
       .value = static_cast<double>(manifest_usage.creates + manifest_usage.overwrites) / commits,
       .target = Target{.kind = Target::Kind::kExactly, .limit = 1},
       .meaning = "PUTs of manifests over versions committed, one producer alone"},
      {.key = "commits", .value = commits, .target = {}, .meaning = "versions, of as many batches"},
      {.key = "requests_per_commit",
       .value = static_cast<double>(usage.requests()) / commits,
       .target = {},
       .meaning = "all requests: the payload's PUT, a look for a successor, the manifest's PUT"},
      {.key = "publish_ms",
       .value = Median(milliseconds),
       .target = {},
       .meaning = "median from Publish() to committed, 8 slices of 1 KiB, memory store"},
  };
}

// `suffix` ends the keys.
Result<void> AddCosts(Report& report, const std::string& suffix, const LongStreamShape& shape) {
  const CommitCosts costs = BW_TRY(CompareCommits(shape));
  const auto add = [&](const std::string& key, double value, std::string meaning, std::optional<Target> target = {}) {
    report.push_back({.key = key + suffix, .value = value, .target = target, .meaning = std::move(meaning)});
  };
  const std::string who =
      suffix.empty() ? "one producer" : "64 groups, 1000 producers and a tenth as many retired as steps";
  add("cost_ratio", costs.worst_ratio(),
      fmt::format("cost of a commit at {} live steps over that at {}: the worst of three; {}", shape.steps,
                  kLongStreamStepsMin, who),
      kCostTarget);
  add("time_ratio", costs.time_ratio(), fmt::format("of the mean times, over {} commits", costs.old.commits));
  add("bytes_ratio", costs.bytes_ratio(), "of bytes read and written");
  add("requests_ratio", costs.requests_ratio(), "of requests");
  add("commit_ms_old", costs.old.seconds * 1e3, "mean time of a commit to the long stream, memory store");
  add("commit_bytes_old", costs.old.bytes, "read and written by it");
  return {};
}

}  // namespace

Result<Report> RunCommit(const Settings& settings) {
  Report report = BW_TRY(MeasureAlone());
  Announce("commits to a long stream and to a short one");
  BW_TRY(AddCosts(report, "", {.steps = settings.steps}));
  Announce("the same with groups and many producers");
  BW_TRY(AddCosts(report, "_crowded", Crowded({.steps = settings.steps}, settings.steps / 10)));
  return report;
}

}  // namespace batchweave::bench
