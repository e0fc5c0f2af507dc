// Streams as they are after months: built in seconds through the log, a thousand entries a version, of entries that are
// true but for their objects, which only a few have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/log/producer_rows.h"
#include "batchweave/producer/commit_plan.h"
#include "batchweave/stream/stream.h"

namespace batchweave::bench {

struct LongStreamShape {
  uint64_t steps = 0;  // kLongStreamStepsMin at least.
  size_t groups = 0;
  size_t producers = 1;     // That take turns.
  size_t retired = 0;       // Producers that have finished.
  uint64_t tombstones = 0;  // Versions that were retired before the first step.
};

inline constexpr uint64_t kLongStreamStepsMin = 1000;

// As many groups as there may be, and more producers than fit a manifest.
LongStreamShape Crowded(LongStreamShape shape, size_t retired);

// Not safe for concurrent use.
class LongStream {
 public:
  // Makes the stream `name`. The parts of `env` must outlive it. Only the steps of real_steps() can be read.
  // Errors: those of the store.
  static Result<LongStream> Make(Env env, const std::string& name, const LongStreamShape& shape);

  Stream& stream() { return stream_; }
  const LoggedManifest& newest() const { return newest_; }
  // The first one, one in the middle, the last one.
  const std::vector<Step>& real_steps() const { return real_steps_; }

  // Commits `entries` as a producer's committer does, without its threads and waits: looks for a successor, brings rows,
  // plans, archives, commits. Each entry is of the next producer. Errors: those of the log.
  Result<void> Commit(size_t entries);

 private:
  explicit LongStream(Stream stream) : stream_(std::move(stream)) {}

  Result<void> MakeTombstones(uint64_t count);
  Result<void> OpenProducers(size_t count);
  // What can be archived is, so that streams of any age are at the same point between two times of archiving.
  Result<void> AddRetiredAndArchive(size_t count);
  Result<void> AppendUntil(uint64_t steps);
  Result<void> PublishReal(Env env);
  Result<void> CommitNext(Manifest next);
  Result<void> RetireOldVersions();

  Stream stream_;
  LoggedManifest newest_;
  RowTable row_table_;
  std::vector<std::string> producers_;
  Incarnation incarnation_;
  std::vector<uint64_t> seqs_;  // Of the producers.
  size_t turn_ = 0;             // The producer of the next entry.
  Entry pattern_;               // A real one.
  std::vector<Step> real_steps_;
};

}  // namespace batchweave::bench
