// What the processes of a soak share: the store, and beside it files by which they tell each other what a training job
// would tell by its own broadcasts and logs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"
#include "batchweave/format/types.h"

namespace batchweave::bench {

// Signs, see SoakFolder::Raise.
inline constexpr const char* kStopSign = "stop";
inline constexpr const char* kEndSign = "end";

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

  // Signs: `stop` tells producers to finish and ranks to hurry, `end` tells reclaimers and workers to stop.
  Result<void> Raise(const std::string& sign) const;
  bool IsRaised(const std::string& sign) const;

  // Notes: small files, whole or not there; the last one to put a note wins. Errors: kDenied.
  Result<void> PutNote(const std::string& name, ByteView bytes) const;
  std::optional<Bytes> FindNote(const std::string& name) const;
  std::vector<std::string> ListNotes(std::string_view prefix) const;
  void RemoveNote(const std::string& name) const;

  Result<void> TellStart(const std::string& group, uint64_t life, const JobStart& start) const;
  std::optional<JobStart> FindStart(const std::string& group, uint64_t life) const;

 private:
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
