// Comparing two ways to do one thing on a machine that does other things too: in turns, many times, by medians.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "batchweave/base/clock.h"
#include "batchweave/base/result.h"

namespace batchweave::bench {

// Does the work once and returns how long the part that counts took.
using Side = std::function<Result<Duration>()>;

struct RoundLimits {
  size_t rounds_max = 0;
  Duration time_max{};
};

struct Comparison {
  double ratio = 0;  // Time of the floor over time of the candidate: 1 is as fast, more is faster than the floor.
  Duration candidate{};
  Duration floor{};
  size_t rounds = 0;
};

// Runs candidate, floor, candidate, floor... until a limit is reached, at least kRoundsMin rounds, after one round that
// warms caches and does not count. The ratio is the median of the rounds' ratios: both sides of a round met the machine
// in about the same state. The durations are medians of their own.
Result<Comparison> Compare(Clock& clock, RoundLimits limits, const Side& candidate, const Side& floor);

inline constexpr size_t kRoundsMin = 3;

// The middle value, or the mean of both. `values` must not be empty.
double Median(std::vector<double> values);

// The seconds of a duration.
double Seconds(Duration duration);

// MiB/s of `bytes` in `duration`.
double Speed(double bytes, Duration duration);

// Tells people who wait what is measured now, on standard error.
void Announce(std::string_view what);

}  // namespace batchweave::bench
