#include "sim/store_profile.h"

#include <cmath>
#include <numbers>

namespace batchweave::sim {

using std::chrono::microseconds;
using std::chrono::milliseconds;

const StoreProfile& S3Standard() {
  static const StoreProfile profile{.name = "s3",
                                    .put = {.median = milliseconds(40)},
                                    .get = {.median = milliseconds(20)},
                                    .list = {.median = milliseconds(45)},
                                    .remove = {.median = milliseconds(35)}};
  return profile;
}

const StoreProfile& S3Express() {
  static const StoreProfile profile{.name = "s3-express",
                                    .put = {.median = milliseconds(7)},
                                    .get = {.median = milliseconds(4)},
                                    .list = {.median = milliseconds(8)},
                                    .remove = {.median = milliseconds(6)},
                                    .bytes_per_s = 200e6,
                                    .writes_per_s_of_prefix = 100'000,
                                    .reads_per_s_of_prefix = 200'000,
                                    .ordered_list = false};
  return profile;
}

const StoreProfile& Gcs() {
  static const StoreProfile profile{.name = "gcs",
                                    .put = {.median = milliseconds(80)},
                                    .get = {.median = milliseconds(35)},
                                    .list = {.median = milliseconds(60)},
                                    .remove = {.median = milliseconds(50)},
                                    .writes_per_s_of_prefix = 1000,
                                    .reads_per_s_of_prefix = 5000,
                                    .writes_per_s_of_key = 1};
  return profile;
}

const StoreProfile& LocalDirectory() {
  static const StoreProfile profile{.name = "local",
                                    .put = {.median = microseconds(300)},
                                    .get = {.median = microseconds(40)},
                                    .list = {.median = microseconds(500)},
                                    .remove = {.median = microseconds(60)},
                                    .bytes_per_s = 2e9,
                                    .writes_per_s_of_prefix = 1e9,
                                    .reads_per_s_of_prefix = 1e9};
  return profile;
}

double NextNormal(Random& random) {
  // Box and Muller, 1958.
  const double radius = std::sqrt(-2 * std::log(1 - NextUnit(random)));
  return radius * std::cos(2 * std::numbers::pi * NextUnit(random));
}

Duration Draw(Random& random, const Latency& latency, double bytes_per_s, uint64_t size_bytes) {
  double seconds =
      std::chrono::duration<double>(latency.median).count() * std::exp(latency.spread * NextNormal(random));
  if (NextUnit(random) < latency.straggler_share) seconds *= latency.straggler_factor;
  seconds += static_cast<double>(size_bytes) / bytes_per_s;
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace batchweave::sim
