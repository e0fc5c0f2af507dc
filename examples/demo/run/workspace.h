// The folder that one run of the demo has for itself.
#pragma once

#include "batchweave/base/result.h"
#include "examples/demo/process/job_options.h"

namespace batchweave::demo {

// Held for as long as the run goes on.
class Workspace {
 public:
  // Removes the stream, the records and the logs of the last run, and makes empty folders for those of this one.
  // Errors: kNotFound (no data: run fetch.sh first), kAlreadyExists (another run is at it), kDenied.
  static Result<Workspace> Prepare(const JobOptions& job);

  Workspace(Workspace&& other) noexcept;
  Workspace& operator=(Workspace&&) = delete;
  ~Workspace();

 private:
  explicit Workspace(int lock) : lock_(lock) {}

  int lock_;  // A file descriptor: the system frees the lock whatever becomes of us.
};

}  // namespace batchweave::demo
