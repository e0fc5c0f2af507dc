// The live part of the demo: producers, a trainer and an evaluator, in processes that are killed and started again as
// planned, with checkpoints, trims and reclaims meanwhile, until all sources are published, the stream is sealed and
// every rank has come to its end.
//
// Not safe for concurrent use. What it started dies with it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/stream/stream.h"
#include "examples/demo/run/commands.h"
#include "examples/demo/run/display.h"
#include "examples/demo/run/plan.h"
#include "examples/demo/run/reading_job.h"
#include "examples/demo/run/worker.h"

namespace batchweave::demo {

struct JobSettings {
  Plan plan;
  uint32_t producers = 0;
  uint64_t step_ms = 0;  // What the producers together take for a step, at least.
  Duration restart_after{};
  uint64_t samples = 0;  // Of the corpus.
};

struct JobOutcome {
  uint64_t steps = 0;
  uint64_t steps_in_parts = 0;  // Of those: made by several workers.
  uint64_t first_step = 0;      // The oldest that is still held.
  uint64_t versions = 0;        // Of the manifest: how many commits it took.
  uint64_t restarts = 0;
  uint64_t checkpoints = 0;
  uint64_t reclaimed_objects = 0;
  uint64_t reclaimed_bytes = 0;
  uint64_t bytes = 0;     // That the ranks got, all lives together,
  uint64_t requests = 0;  // by this many requests.
};

class Job {
 public:
  // All must outlive the job.
  Job(Stream& stream, const Commands& commands, Display& display, JobSettings settings);

  // Errors: kUnavailable (a process failed that nobody killed), kStalled (it takes far too long), kCorrupt (ranks did
  // not stop where they should, or the plan was not carried out), those of the stream.
  Result<JobOutcome> Run();

 private:
  Clock& clock() { return stream_.env().clock; }

  Result<void> Start();
  Result<void> WatchStream();
  Result<void> TendProducers();
  Result<void> TendReadings();
  Result<void> ReclaimAfter(const ReadingJob& job, Step checkpoint);
  void CarryOutKills();
  bool CarryOut(const Kill& kill);
  void Finish();
  std::vector<std::string> LiveLines() const;

  Stream& stream_;
  const Commands& commands_;
  Display& display_;
  const JobSettings settings_;
  std::vector<Worker> producers_;
  std::array<ReadingJob, 2> readings_;
  std::vector<Kill> kills_;  // Still to come.
  LoggedManifest newest_;
  uint64_t samples_ = 0;  // Published so far.
  double began_ = 0;
  JobOutcome outcome_;
};

}  // namespace batchweave::demo
