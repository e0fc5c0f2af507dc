// What became of each batch, by what the versions say: when it was uploaded, and when a version named it.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "batchweave/log/manifest_log.h"
#include "sim/scale/lab_stream.h"
#include "sim/scale/scenario.h"

namespace batchweave::sim {

class Tally {
 public:
  // Batches that were uploaded in [from, until) count.
  Tally(const Scenario& scenario, const Scheduler& scheduler);

  void OnUpload(size_t producer, uint64_t seq);
  // A version was created, which names `entries` that the one before did not.
  void OnCommit(const std::vector<Entry>& entries);
  // The producer is killed, and what it had uploaded in vain its source makes again.
  void OnKill(size_t producer);
  // The producer is stopped for a while: how long it waits is nobody's doing.
  void Excuse(size_t producer) { sources_[producer].excused = true; }
  // Its batches are to be committed so soon.
  void Hurry(size_t producer) { sources_[producer].hurried = true; }
  void OnOpened() { opened_at_.push_back(scheduler_.now()); }
  // Producers that wait now are asked how long they have.
  void End();

  uint64_t committed_in_window() const { return in_window_; }  // Whenever they were uploaded.
  uint64_t commits_in_window() const { return commits_; }
  const std::vector<SimTime>& opened_at() const { return opened_at_; }
  void FillIn(ScaleRow& row);

 private:
  struct Batch {
    SimTime uploaded_at;
    bool counts;
  };
  struct Source {
    std::map<uint64_t, Batch> pending;  // By seq.
    SimTime waits_since{};              // With something pending: since then without a commit.
    uint64_t offered = 0;
    uint64_t committed = 0;
    Duration longest_wait{};
    bool excused = false;
    bool hurried = false;
  };
  // Of those committed who have, or have not, asked for kHurriedStaleness.
  struct Lateness {
    uint64_t batches = 0;
    uint64_t late = 0;
    double share() const { return batches == 0 ? 0 : static_cast<double>(late) / static_cast<double>(batches); }
  };
  bool InWindow() const;
  void Waited(Source& source);

  const Scheduler& scheduler_;
  const SimTime from_;
  const SimTime until_;
  std::vector<Source> sources_;
  std::vector<double> staleness_s_;
  Lateness of_hurried_;
  Lateness of_others_;
  std::vector<SimTime> opened_at_;
  uint64_t offered_ = 0;
  uint64_t committed_ = 0;
  uint64_t in_window_ = 0;
  uint64_t commits_ = 0;
};

}  // namespace batchweave::sim
