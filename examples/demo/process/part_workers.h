// Two processes that fill the parts of a producer's batches, half of the dp rows each.
//
// Not safe for concurrent use. They end with their owner.
#pragma once

#include <string>
#include <vector>

#include "batchweave/base/clock.h"
#include "batchweave/base/result.h"
#include "examples/demo/process/child.h"
#include "examples/demo/process/job_options.h"
#include "examples/demo/process/part_order.h"

namespace batchweave::demo {

class PartWorkers {
 public:
  // `programs` is the folder of demo_part_worker. Errors: as Child::Start.
  static Result<PartWorkers> Start(const JobOptions& job, const std::string& programs, Clock& clock);

  struct Batch {
    std::vector<PartReceipt> receipts;
    std::string cursor;  // Behind the batch.
    uint64_t samples_ended = 0;
  };

  // Has both work at once on the batch of `ticket`, which begins at `cursor`.
  // Errors: kUnavailable (a worker failed; the message has its last words), kCorrupt.
  Result<Batch> Make(const PartTicket& ticket, const std::string& cursor);

 private:
  struct Worker {
    Child::Command command;
    Child child;
  };

  explicit PartWorkers(Clock& clock) : clock_(&clock) {}

  Clock* clock_;
  std::vector<Worker> workers_;
};

// The folder that the running program lies in.
std::string ProgramsFolder();

}  // namespace batchweave::demo
