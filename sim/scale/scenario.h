// What one run of `bw_sim scale` simulates, and what it found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/network.h"

namespace batchweave::sim {

// Who decides when to commit. kFixed and kAimd are here for comparison only.
enum class Policy { kDefault, kFair, kFixed, kAimd };
std::string_view PolicyName(Policy policy);

// What is not even about the fleet.
enum class Trouble {
  kNone,
  kLognormal,  // Rates differ by a factor of ten either way.
  kBursts,     // Batches come eight at a time.
  kRestarts,   // Half of the producers are killed at once in the middle of the window, and come back together.
  kThrottled,  // For a minute of the window the store refuses half of what is asked.
  kOutage,     // For a minute of the window the store answers nothing.
  kMisfits,  // One has a single batch, one is stopped for a minute, one has 20 times as many as the others, one a 20th.
  kHurried,  // Every fourth producer asks for kHurriedStaleness.
  kOpenings,  // The stream is new, and all producers open at once at the start of the window.
};
// Producers that kMisfits needs.
inline constexpr size_t kMisfitsMin = 4;
// A few attempts of S3: in the quiet of nobody serving it takes longer.
inline constexpr Duration kHurriedStaleness = std::chrono::milliseconds(500);
std::string_view TroubleName(Trouble trouble);
std::optional<Trouble> FindTrouble(std::string_view name);
std::vector<Trouble> AllTroubles();

struct Scenario {
  Policy policy = Policy::kFair;
  Trouble trouble = Trouble::kNone;
  size_t producers = 1;
  uint64_t steps = 0;  // Live steps that the stream has already.
  const StoreProfile* profile = nullptr;
  Duration fixed_interval{};   // kFixed: between two attempts of one producer.
  double batches_per_s = 0.2;  // Of each producer: arrivals without memory.
  double rate_spread = 0;      // Rates are log-normal among producers with this spread; 0: all alike.
  // Producers settle for `warmup`; what is uploaded in `window` counts, and has `drain` to be committed in.
  Duration warmup = std::chrono::seconds(60);
  Duration window = std::chrono::seconds(120);
  Duration drain = std::chrono::seconds(10);
  std::vector<Outage> outages{};
  uint64_t seed = 1;
};

// Requests by how stores bill them, and what they cost.
struct RequestCounts {
  uint64_t puts = 0;
  uint64_t gets = 0;  // And HEADs.
  uint64_t lists = 0;
  uint64_t deletes = 0;
  uint64_t manifest_puts = 0;  // Of the puts: those of manifests.
  uint64_t intent_puts = 0;    // Of the puts: those of intents.
  uint64_t all() const { return puts + gets + lists + deletes; }
};

struct ScaleRow {
  double ingest_ratio = 0;  // Committed over offered.
  double staleness_p50_s = 0;
  double staleness_p99_s = 0;
  double manifest_puts_per_commit = 0;
  double commits_per_s = 0;
  double requests_per_batch = 0;
  double puts_per_batch = 0;
  double intent_puts_per_batch = 0;  // Of the puts.
  double gets_per_batch = 0;
  double lists_per_batch = 0;
  double deletes_per_batch = 0;
  double usd_per_million_batches = 0;
  double jain = 0;            // Of the shares of their batches that producers had committed: 1 where all are alike.
  uint64_t starved = 0;       // Producers that had no commit in 60 s with data pending.
  double longest_wait_s = 0;  // Of a producer with data pending, for its next commit.
  double median_wait_s = 0;   // The median of the producers' longest waits.
  double late_share = 0;  // Of batches, over kHurriedStaleness: of those who asked for it, or where nobody did, of all.
  double all_open_s = 0;  // kOpenings, kRestarts: from the start of all until the last is open; negative: not all are.
  double cpu_s = 0;       // That the run took: nothing of the simulated fleet.
};

ScaleRow RunScenario(const Scenario& scenario);

}  // namespace batchweave::sim
