#include "bench/soak/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace batchweave::bench {
namespace {

off_t PlaceOf(Step step) { return static_cast<off_t>(step.value * sizeof(StepRecord)); }

}  // namespace

std::string SoakFolder::Records(const std::string& group, size_t rank) const {
  return fmt::format("{}/records-{}-{}", root_, group, rank);
}

std::string SoakFolder::StartFile(const std::string& group, uint64_t life) const {
  return fmt::format("{}/start-{}-{}", root_, group, life);
}

Result<void> SoakFolder::Raise(const std::string& sign) const {
  std::ofstream file(root_ + "/" + sign);
  return file ? Result<void>() : Error{ErrorCode::kDenied, "cannot write: path=" + root_};
}

bool SoakFolder::IsRaised(const std::string& sign) const {
  std::error_code ignored;
  return std::filesystem::exists(root_ + "/" + sign, ignored);
}

// Whole or not there: under another name first.
Result<void> SoakFolder::TellStart(const std::string& group, uint64_t life, const JobStart& start) const {
  const std::string path = StartFile(group, life);
  std::ofstream file(path + ".new");
  file << start.session.value << ' ' << start.position.value << '\n';
  file.close();
  std::error_code code;
  std::filesystem::rename(path + ".new", path, code);
  if (!file || code) return Error{ErrorCode::kDenied, "cannot write: path=" + path};
  return {};
}

std::optional<JobStart> SoakFolder::FindStart(const std::string& group, uint64_t life) const {
  std::ifstream file(StartFile(group, life));
  JobStart start;
  if (!(file >> start.session.value >> start.position.value)) return std::nullopt;
  return start;
}

Result<RecordFile> RecordFile::Open(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return Error{ErrorCode::kDenied, "cannot open: path=" + path};
  return RecordFile(file);
}

RecordFile::RecordFile(RecordFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

RecordFile::~RecordFile() {
  if (file_ >= 0) close(file_);
}

StepRecord RecordFile::Read(Step step) const {
  StepRecord record;
  const ssize_t size = pread(file_, &record, sizeof(record), PlaceOf(step));
  return size == static_cast<ssize_t>(sizeof(record)) ? record : StepRecord{};
}

Result<void> RecordFile::Write(Step step, const StepRecord& record) {
  const ssize_t size = pwrite(file_, &record, sizeof(record), PlaceOf(step));
  if (size == static_cast<ssize_t>(sizeof(record))) return {};
  return Error{ErrorCode::kUnavailable, "cannot write a record"};
}

}  // namespace batchweave::bench
