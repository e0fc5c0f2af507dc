#include "sim/scale/promises.h"

#include <nlohmann/json.hpp>

namespace batchweave::sim {
namespace {

constexpr double kIngestMin = 0.99;
constexpr double kAllOpenMax = 60;  // Seconds.
// Of S3, from so many producers on: fewer are not worth an announcement, and lose a little to each other.
constexpr double kStalenessMax = 2;  // Seconds.
constexpr double kPutsMax = 2;
// What a manifest of 10^6 live steps may cost of that.
constexpr double kLongFactor = 1.05;

// Nobody waits longer than so many times what producers wait at most, in the median, and one of the slowest requests of S3
// besides: one of 500 takes 20 times its time (store_profile.cc), and among so many some take nearly 3 s.
constexpr double kWaitFactor = 6;
constexpr double kSlowestRequest = 3;  // Seconds.
// Where the store is down for a minute, a request that hangs is given up after half a minute, and tried again.
constexpr double kOutageWaitMax = 60 + 30 + 10;

class Row {
 public:
  explicit Row(const nlohmann::ordered_json& json) : json_(json), trouble_(json.value("trouble", "")) {}

  std::string Missed() const {
    if (json_.contains("all_open_s") && (Of("all_open_s") < 0 || Of("all_open_s") > kAllOpenMax)) return "all_open_s";
    if (Of("ingest_ratio") < kIngestMin) return "ingest_ratio";
    // While the store is down all starve.
    if (trouble_ != "outage" && Of("starved") != 0) return "starved";
    if (Of("longest_wait_s") > WaitMax()) return "longest_wait_s";
    if (!trouble_.empty() || json_.contains("store")) return "";
    const double factor = Of("steps") > 0 ? kLongFactor : 1;
    if (Of("staleness_p99_s") > kStalenessMax * factor) return "staleness_p99_s";
    return Of("manifest_puts_per_commit") > kPutsMax * factor ? "manifest_puts_per_commit" : "";
  }

 private:
  double Of(const char* key) const { return json_[key].get<double>(); }

  double WaitMax() const {
    // Of those who are refused for a minute some are refused more often than others: `starved` is the bound.
    if (trouble_ == "outage" || trouble_ == "throttled") return kOutageWaitMax;
    return kWaitFactor * Of("median_wait_s") + kSlowestRequest;
  }

  const nlohmann::ordered_json& json_;
  const std::string trouble_;
};

}  // namespace

std::string Missed(const nlohmann::ordered_json& row) { return row["policy"] == "default" ? Row(row).Missed() : ""; }

}  // namespace batchweave::sim
