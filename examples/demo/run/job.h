// The live part of the demo: producers and ranks as processes of their own, killed and started again as planned, until
// all sources are published, the stream is sealed and every rank has come to its end.
//
// Not safe for concurrent use. What it started dies with it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/stream/stream.h"
#include "examples/demo/run/commands.h"
#include "examples/demo/run/display.h"
#include "examples/demo/run/plan.h"
#include "examples/demo/run/worker.h"

namespace batchweave::demo {

struct JobSettings {
  Plan plan;
  uint32_t producers = 0;
  uint64_t pace_ms = 0;  // From one batch of a producer to its next, at least.
  Duration restart_after{};
  uint64_t samples = 0;  // Of the corpus.
};

struct JobOutcome {
  uint64_t steps = 0;
  uint64_t versions = 0;  // Of the manifest: how many commits it took.
  uint64_t restarts = 0;
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

  Result<void> StartProducers();
  Result<void> StartRanks();
  Result<void> WatchStream();
  Result<void> TendProducers();
  Result<void> TendRanks();
  // All ranks of the mesh have ended: on to the next, if there is one.
  Result<void> ChangeMesh();
  void CarryOutKills();
  void Count(const std::vector<Worker>& workers);
  std::vector<std::string> LiveLines() const;

  Stream& stream_;
  const Commands& commands_;
  Display& display_;
  const JobSettings settings_;
  std::vector<Worker> producers_;
  std::vector<Worker> ranks_;  // Of the current mesh.
  size_t mesh_ = 0;            // Which of the plan's.
  std::vector<Kill> kills_;    // Still to come.
  LoggedManifest newest_;
  uint64_t samples_ = 0;  // Published so far.
  double began_ = 0;
  bool over_ = false;
  JobOutcome outcome_;  // Of workers that are gone.
};

}  // namespace batchweave::demo
