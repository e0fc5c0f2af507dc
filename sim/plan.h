// What one seed stands for: who takes part, on which kind of store, and what goes wrong how often. All of it is drawn
// from the seed, so that a thousand seeds are a thousand different fleets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/network.h"
#include "sim/store_profile.h"

namespace batchweave::sim {

// Of the checkpoints of each job that are not pinned.
inline constexpr size_t kKeepLast = 2;

struct ProducerPlan {
  std::string name;
  uint64_t batches = 0;  // Of its source, which then ends.
  Duration pace{};       // Mean time from one batch to the next.
  size_t cursor_bytes = 0;
  size_t metadata_bytes = 0;
  uint64_t flush_every = 1;  // It waits for the commit after so many batches.
  uint64_t parts_every = 0;  // So many batches, one is built from parts by two workers; 0: none.
  uint64_t max_lead_steps = 0;
  uint64_t max_lead_bytes = 0;
  uint64_t more_batches = 0;  // Once it has finished it is opened again, for so many more.
  double rewinds_share = 0;   // So often it forgets where it was, and must be told.
  bool forget = false;
};

struct JobPlan {
  std::string group;
  Duration step_time{};
  uint64_t checkpoint_every = 0;  // Steps.
  bool reclaims = false;          // With its checkpoints.
  bool uneven = false;
};

struct Plan {
  uint64_t seed = 0;
  const StoreProfile* profile = nullptr;
  double limits_share = 1;  // Of the store's limits of a prefix: others use the rest.
  bool retries = false;     // Clients repeat by themselves what is safe to repeat.
  FaultRates rates{};
  SimTime storm{};  // So long things go wrong; then all is to come right.
  uint32_t cp = 1;  // Of every grid; dp changes from batch to batch.
  std::vector<ProducerPlan> producers{};
  size_t producers_a_process = 1;  // So many of them share a process, a stream and its committer.
  uint64_t churn = 0;              // Producers that each live for a few batches, one after the other.
  uint32_t churners = 1;           // So many such chains at once.
  std::vector<JobPlan> jobs{};
  uint32_t reclaimers = 0;
  Duration reclaim_pace{};
  Duration fate_pace{};      // Mean time between two crashes, pauses, outages or leaps of a clock; 0: none.
  Duration operator_pace{};  // Between two acts of a person: quarantines, fences, groups that come and go.
  uint32_t creators = 1;     // That race to create the stream.
  double sleepy_share = 0;   // Of the commits of unknown outcome, after so many their process is stopped for long.
  bool seals_early = false;  // In mid-run, whatever the producers have left.
  bool deletes_at_end = false;
  bool deletes_early = false;         // In mid-run.
  bool removes_to_overwrite = false;  // The store does: its old versions must stay as they are.
  bool newer_binary = false;          // Commits a feature that this software does not know, in mid-run.
};

Plan MakePlan(uint64_t seed);

// "s3-express, 4 producers, ...": one line for people.
std::string Describe(const Plan& plan);

}  // namespace batchweave::sim
