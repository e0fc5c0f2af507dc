// The benchmark `read`: how fast a rank reads, and what it asks of the store.
#include <fmt/format.h>

#include <algorithm>

#include "bench/benchmark.h"
#include "bench/read_cost.h"
#include "bench/read_speed.h"
#include "bench/sample_stream.h"

namespace batchweave::bench {
namespace {

// Comparisons that share the time.
constexpr int kComparisons = 3;

// A live step takes 64 MiB on the disk: with the default of 256 MiB a round, 32 steps take 2 GiB.
constexpr uint64_t kRoundBytesPerLiveStep = 8 * kMiB;
constexpr uint64_t kLiveStepsMin = 2;
constexpr uint64_t kLiveStepsMax = 64;

void AddSpeed(Report& report, const std::string& key, double limit, const std::string& meaning,
              const Comparison& measured, uint64_t bytes) {
  const auto counted = static_cast<double>(bytes);
  report.push_back({.key = "ratio_" + key,
                    .value = measured.ratio,
                    .target = Target{.kind = Target::Kind::kAtLeast, .limit = limit},
                    .meaning = meaning});
  report.push_back({.key = "mib_per_s_" + key,
                    .value = Speed(counted, measured.candidate),
                    .target = {},
                    .meaning = "of the consumer"});
  report.push_back({.key = "floor_mib_per_s_" + key,
                    .value = Speed(counted, measured.floor),
                    .target = {},
                    .meaning = fmt::format("of the plain loop; {} rounds", measured.rounds)});
}

void AddCost(Report& report, const ReadCost& cost) {
  const auto at_most = [](double limit) { return Target{.kind = Target::Kind::kAtMost, .limit = limit}; };
  report.push_back({.key = "gets_per_step",
                    .value = cost.gets_per_step,
                    .target = Target{.kind = Target::Kind::kExactly, .limit = 1},
                    .meaning = "payload GETs of a rank a step: the largest of meshes of dp 1, 8 and 64"});
  report.push_back({.key = "read_amplification_backlog",
                    .value = cost.amplification_backlog,
                    .target = at_most(1.01),
                    .meaning = "bytes read over bytes delivered, steps there already"});
  report.push_back({.key = "read_amplification_live",
                    .value = cost.amplification_live,
                    .target = at_most(1.03),
                    .meaning = "the same, 64 ranks follow one commit a step"});
  report.push_back({.key = "manifest_bytes",
                    .value = static_cast<double>(cost.manifest_bytes),
                    .target = {},
                    .meaning = "of the newest version, in those two"});
}

}  // namespace

Result<Report> RunRead(const Settings& settings) {
  const Workspace workspace = BW_TRY(Workspace::Make(settings.folder));
  const RoundLimits limits{.rounds_max = settings.rounds_max, .time_max = settings.time_max / kComparisons};
  Report report;
  {
    Announce("slices of 8 MiB, one prefetch thread");
    ReadSpeed speed = BW_TRY(ReadSpeed::Make(workspace, 8 * kMiB, settings.data_bytes));
    AddSpeed(report, "8mib", 0.9, "speed over that of a plain loop, one prefetch thread",
             BW_TRY(speed.Measure(1, limits)), speed.counted_bytes());
  }
  ReadSpeed speed = BW_TRY(ReadSpeed::Make(workspace, kMiB, settings.data_bytes));
  Announce("slices of 1 MiB, one prefetch thread");
  AddSpeed(report, "1mib", 0.7, "the same with slices of 1 MiB", BW_TRY(speed.Measure(1, limits)),
           speed.counted_bytes());
  Announce("slices of 1 MiB, no prefetch");
  AddSpeed(report, "1mib_inline", 0.9, "the same without prefetch: Next() reads", BW_TRY(speed.Measure(0, limits)),
           speed.counted_bytes());
  Announce("requests and bytes of 1, 8 and 64 ranks");
  const uint64_t steps = std::clamp(settings.data_bytes / kRoundBytesPerLiveStep, kLiveStepsMin, kLiveStepsMax);
  AddCost(report, BW_TRY(MeasureReadCost(workspace, steps)));
  return report;
}

}  // namespace batchweave::bench
