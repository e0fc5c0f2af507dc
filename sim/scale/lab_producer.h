// One producer of the laboratory: a process with the production code's log, pipeline, law and committer on one fibre. Its
// uploads are events, not requests: all laws would pay the same for them, so that they are only counted.
#pragma once

#include <memory>
#include <string>

#include "batchweave/producer/committer.h"
#include "sim/scale/lab_store.h"
#include "sim/scale/lab_stream.h"
#include "sim/scale/tally.h"

namespace batchweave::sim {

class LabProducer {
 public:
  // All must outlive it; and it its fibre: see Stop and idle.
  LabProducer(Machine machine, LabServer& server, Tally& tally, const LabStream& stream, const Scenario& scenario,
              size_t index);

  // Uploads batches until `until`, on average `batches_per_s`.
  void Start(double batches_per_s, SimTime until);
  // Ends the process, as a kill does.
  void Stop();
  bool idle() const { return process_.idle(); }

 private:
  Env env();
  void Arrive();
  void FinishUpload(const UploadJob& job);

  Scheduler& scheduler_;
  LabServer& server_;
  Tally& tally_;
  const StreamKeys keys_;
  const size_t index_;
  Process process_;
  LabClient client_;
  RetryingStore store_;
  ManifestLog log_;
  Pipeline pipeline_;
  const std::unique_ptr<CommitLaw> law_;
  Committer committer_;
  ProducerRef producer_;  // Shared: see ProducerRef.
  double batches_per_s_ = 0;
  SimTime until_{};
};

}  // namespace batchweave::sim
