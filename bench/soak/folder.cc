#include "bench/soak/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace batchweave::bench {
namespace {

constexpr std::string_view kUnfinished = ".new-";

std::string StartNote(const std::string& group, uint64_t life) { return fmt::format("start-{}-{}", group, life); }

off_t PlaceOf(Step step) { return static_cast<off_t>(step.value * sizeof(StepRecord)); }

}  // namespace

std::string SoakFolder::Records(const std::string& group, size_t rank) const {
  return fmt::format("{}/records-{}-{}", root_, group, rank);
}

Result<void> SoakFolder::Raise(const std::string& sign) const {
  std::ofstream file(root_ + "/" + sign);
  return file ? Result<void>() : Error{ErrorCode::kDenied, "cannot write: path=" + root_};
}

bool SoakFolder::IsRaised(const std::string& sign) const {
  std::error_code ignored;
  return std::filesystem::exists(root_ + "/" + sign, ignored);
}

// Under another name first, of which each process has its own.
Result<void> SoakFolder::PutNote(const std::string& name, ByteView bytes) const {
  const std::string path = fmt::format("{}/{}", root_, name);
  const std::string written = fmt::format("{}{}{}", path, kUnfinished, getpid());
  std::ofstream file(written, std::ios::binary);
  file << AsText(bytes);
  file.close();
  std::error_code code;
  std::filesystem::rename(written, path, code);
  if (!file || code) return Error{ErrorCode::kDenied, "cannot write: path=" + path};
  return {};
}

std::optional<Bytes> SoakFolder::FindNote(const std::string& name) const {
  std::ifstream file(fmt::format("{}/{}", root_, name), std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return ToBytes(text.str());
}

std::vector<std::string> SoakFolder::ListNotes(std::string_view prefix) const {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(root_)) {
    std::string name = file.path().filename();
    if (name.starts_with(prefix) && name.find(kUnfinished) == std::string::npos) names.push_back(std::move(name));
  }
  return names;
}

void SoakFolder::RemoveNote(const std::string& name) const {
  std::error_code ignored;
  std::filesystem::remove(fmt::format("{}/{}", root_, name), ignored);
}

Result<void> SoakFolder::TellStart(const std::string& group, uint64_t life, const JobStart& start) const {
  return PutNote(StartNote(group, life), ToBytes(fmt::format("{} {}", start.session.value, start.position.value)));
}

std::optional<JobStart> SoakFolder::FindStart(const std::string& group, uint64_t life) const {
  const std::optional<Bytes> note = FindNote(StartNote(group, life));
  if (!note) return std::nullopt;
  std::istringstream text{std::string(AsText(*note))};
  JobStart start;
  if (!(text >> start.session.value >> start.position.value)) return std::nullopt;
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
