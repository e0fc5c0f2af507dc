// The end of the demo's output: figures, where to look next, and one JSON object.
#pragma once

#include "batchweave/lifecycle/stored_bytes.h"
#include "examples/demo/run/commands.h"
#include "examples/demo/run/display.h"
#include "examples/demo/run/job.h"
#include "examples/demo/run/verdict.h"

namespace batchweave::demo {

struct Results {
  const JobOutcome& outcome;
  const Verdict& verdict;
  const StoredBytes& stored;  // After a quiet reclaim.
  bool verified = false;      // By `batchweave verify --deep`.
};

// Prints all of it; whether everything is as it should be.
bool Summarize(const Results& results, const Commands& commands, Display& display);

}  // namespace batchweave::demo
