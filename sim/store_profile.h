// How fast a kind of store answers: medians and tails of each kind of request, its bandwidth and its limits.
#pragma once

#include <string_view>

#include "batchweave/base/random.h"
#include "sim/scheduler.h"

namespace batchweave::sim {

// A log-normal time: half of the requests are below `median`, one in a hundred about `exp(2.33 * spread)` above it.
struct Latency {
  Duration median{};
  double spread = 0.4;
  double straggler_share = 0.002;  // Of the requests, these take `straggler_factor` as long.
  double straggler_factor = 20;
};

struct StoreProfile {
  std::string_view name;
  Latency put;
  Latency get;
  Latency list;
  Latency remove;
  double bytes_per_s = 100e6;            // Of one request.
  double writes_per_s_of_prefix = 3500;  // Beyond it a request is throttled.
  double reads_per_s_of_prefix = 5500;
  double writes_per_s_of_key = 0;  // 0: no limit.
  bool ordered_list = true;
};

// S3 Standard and S3 Express One Zone by AWS's performance guidelines (100-200 ms and single-digit milliseconds to the
// first byte at the outside; 3500 writes and 5500 reads a second and prefix; directory buckets list in no order), with
// medians as public benchmarks of small objects find them; Google Cloud Storage by its documentation (one write a second
// of one key); a local directory by measurement.
const StoreProfile& S3Standard();
const StoreProfile& S3Express();
const StoreProfile& Gcs();
const StoreProfile& LocalDirectory();

// The time of one request of `size_bytes`.
Duration Draw(Random& random, const Latency& latency, double bytes_per_s, uint64_t size_bytes);

// A draw from the standard normal distribution.
double NextNormal(Random& random);

}  // namespace batchweave::sim
