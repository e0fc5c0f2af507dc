#include "bench/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "batchweave/base/check.h"

namespace batchweave::bench {

Result<Comparison> Compare(Clock& clock, RoundLimits limits, const Side& candidate, const Side& floor) {
  BW_TRY(candidate());
  BW_TRY(floor());
  std::vector<double> ratios;
  std::vector<double> candidate_times;
  std::vector<double> floor_times;
  const TimePoint end = After(clock.Now(), limits.time_max);
  while (ratios.size() < kRoundsMin || (ratios.size() < limits.rounds_max && clock.Now() < end)) {
    candidate_times.push_back(Seconds(BW_TRY(candidate())));
    floor_times.push_back(Seconds(BW_TRY(floor())));
    ratios.push_back(floor_times.back() / candidate_times.back());
  }
  const auto median_time = [](std::vector<double> seconds) {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(Median(std::move(seconds))));
  };
  return Comparison{.ratio = Median(ratios),
                    .candidate = median_time(candidate_times),
                    .floor = median_time(floor_times),
                    .rounds = ratios.size()};
}

double Median(std::vector<double> values) {
  BW_CHECK(!values.empty());
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

double Speed(double bytes, Duration duration) { return bytes / (1 << 20) / Seconds(duration); }

void Announce(std::string_view what) { fmt::print(stderr, "measuring {} ...\n", what); }

}  // namespace batchweave::bench
