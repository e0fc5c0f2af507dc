// A job that reads the stream under a group of its own: its ranks, its sessions, its checkpoints. What a launcher and a
// first rank do in a real one.
//
// Not safe for concurrent use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/stream/stream.h"
#include "examples/demo/run/commands.h"
#include "examples/demo/run/display.h"
#include "examples/demo/run/plan.h"
#include "examples/demo/run/worker.h"

namespace batchweave::demo {

class ReadingJob {
 public:
  // All must outlive the job. `pace_ms`: of one step.
  ReadingJob(Stream& stream, const Commands& commands, Display& display, ReadingPlan plan,
             const std::vector<Kill>& kills, uint64_t pace_ms);

  // Creates the group at step 0 and starts the ranks of the first mesh. Errors: those of the stream, Worker::Start.
  Result<void> Start();

  // Takes in what the ranks report. When all have stopped: on to the next mesh, or it is over. Registers a checkpoint
  // when one is due, and then returns its position.
  // Errors: kUnavailable (a rank failed), kCorrupt (the ranks stopped elsewhere than they should), those of the stream.
  Result<std::optional<Step>> Tend();

  const std::string& group() const { return plan_.group; }
  bool over() const { return over_; }
  Mesh mesh() const { return plan_.meshes[mesh_]; }
  std::vector<Worker>& ranks() { return ranks_; }  // Of the current mesh.
  const std::vector<Worker>& ranks() const { return ranks_; }

  // What the ranks of all meshes did.
  uint64_t restarts() const;
  uint64_t bytes() const;
  uint64_t requests() const;

 private:
  Result<void> StartRanks();
  Result<void> CheckEnd() const;
  // At the oldest record of a rank: each can come back from there.
  Result<std::optional<Step>> CheckpointIfDue(bool all_ended);

  Stream& stream_;
  const Commands& commands_;
  Display& display_;
  const ReadingPlan plan_;
  const std::vector<Kill>& kills_;
  const uint64_t pace_ms_;
  std::optional<Group> session_;
  std::vector<Worker> ranks_;
  std::vector<Worker> earlier_;  // Of the meshes before.
  size_t mesh_ = 0;
  uint64_t checkpoint_ = 0;  // The position of the newest.
  bool over_ = false;
};

}  // namespace batchweave::demo
