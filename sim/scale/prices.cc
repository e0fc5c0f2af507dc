#include "sim/scale/prices.h"

#include "batchweave/base/check.h"

namespace batchweave::sim {
namespace {

struct Prices {
  std::string_view profile;
  double put;  // Or LIST.
  double get;  // Or HEAD.
};

constexpr Prices kPrices[] = {{.profile = "s3", .put = 5e-6, .get = 4e-7},
                              {.profile = "s3-express", .put = 1.13e-6, .get = 3e-8},
                              {.profile = "gcs", .put = 5e-6, .get = 4e-7},
                              {.profile = "local", .put = 0, .get = 0}};

}  // namespace

double Dollars(const StoreProfile& profile, const RequestCounts& requests) {
  for (const Prices& prices : kPrices) {
    if (prices.profile != profile.name) continue;
    return static_cast<double>(requests.puts + requests.lists) * prices.put +
           static_cast<double>(requests.gets) * prices.get;
  }
  BW_CHECK(false);  // A profile without prices.
}

}  // namespace batchweave::sim
