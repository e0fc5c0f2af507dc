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
  // All must outlive it; and it its fibre: see Stop. `life`: how many there were of it before.
  LabProducer(Machine machine, LabServer& server, Tally& tally, const LabStream& stream, const Scenario& scenario,
              size_t index, uint64_t life = 0);

  // Uploads batches until `until`, on average `batches_per_s`, so many at a time.
  struct Work {
    double batches_per_s = 0;
    uint64_t burst = 1;
    SimTime until{};
    Duration max_staleness{};  // As in ProducerOptions.
  };
  // The producer is open: the stream began with it.
  void Start(const Work& work);
  // It is to be opened first, as any other.
  void OpenAndStart(const Work& work);
  // One batch, beside those that come by themselves.
  void Publish() { Upload(); }
  // As SIGSTOP does.
  void PauseUntil(SimTime until) { process_.PauseUntil(until); }
  // Ends the process, as a kill does.
  void Stop();

 private:
  Env env();
  void Add(const OpenedProducer& opened);
  void Commit();
  void ScheduleArrival();
  void Arrive();
  void Upload();
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
  const Incarnation incarnation_;  // That the stream began with.
  ProducerRef producer_;           // Shared: see ProducerRef.
  Work work_;
};

}  // namespace batchweave::sim
