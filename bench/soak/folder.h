// What the processes of a soak share: the store, and beside it files by which they tell each other what a training job
// would tell by its own broadcasts and logs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "batchweave/base/result.h"
#include "batchweave/format/types.h"

namespace batchweave::bench {

// What a rank got for one step. Alike on all ranks of all groups.
struct StepRecord {
  uint64_t is_there = 0;  // 1; 0 where nothing was written yet.
  uint64_t producer = 0;  // Its number.
  uint64_t seq = 0;
  uint64_t digest = 0;
  friend bool operator==(const StepRecord&, const StepRecord&) = default;
};

// Under which session the ranks of one life of a job read, and from where.
struct JobStart {
  Session session{};
  Step position{};
};

class SoakFolder {
 public:
  explicit SoakFolder(std::string root) : root_(std::move(root)) {}

  std::string store() const { return root_ + "/store"; }
  std::string Records(const std::string& group, size_t rank) const;

  // Signs: `stop` tells producers to finish and ranks to hurry, `end` tells reclaimers to stop.
  Result<void> Raise(const std::string& sign) const;
  bool IsRaised(const std::string& sign) const;

  Result<void> TellStart(const std::string& group, uint64_t life, const JobStart& start) const;
  std::optional<JobStart> FindStart(const std::string& group, uint64_t life) const;

 private:
  std::string StartFile(const std::string& group, uint64_t life) const;
  const std::string root_;
};

// Records of one rank by step, in a file that outlives its process. Not safe for concurrent use.
class RecordFile {
 public:
  // Made where it is not there. Errors: kDenied.
  static Result<RecordFile> Open(const std::string& path);
  RecordFile(RecordFile&& other) noexcept;
  RecordFile& operator=(RecordFile&&) = delete;
  ~RecordFile();

  StepRecord Read(Step step) const;  // Nothing there: an empty one.
  // Errors: kUnavailable.
  Result<void> Write(Step step, const StepRecord& record);

 private:
  explicit RecordFile(int file) : file_(file) {}
  int file_;
};

}  // namespace batchweave::bench
