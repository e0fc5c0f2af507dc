#include "examples/demo/run/workspace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace batchweave::demo {

Result<Workspace> Workspace::Prepare(const JobOptions& job) {
  const std::string& directory = job.corpus.directory;
  if (!std::filesystem::is_directory(directory + "/raw")) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("no data: run examples/demo/fetch.sh {} first: folder={}/raw", directory, directory)};
  }
  const int lock = open((directory + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock < 0) {
    return Error{ErrorCode::kDenied, fmt::format("cannot write: folder={}: {}", directory, std::strerror(errno))};
  }
  Workspace workspace(lock);
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return Error{ErrorCode::kAlreadyExists, fmt::format("another demo runs there: folder={}", directory)};
  }
  std::vector<std::string> folders = {job.records(), job.logs()};
  if (job.is_local()) folders.push_back(job.store());
  for (const std::string& folder : folders) {
    std::error_code failed;
    std::filesystem::remove_all(folder, failed);
    if (!failed) std::filesystem::create_directories(folder, failed);
    if (failed) return Error{ErrorCode::kDenied, fmt::format("cannot empty: folder={}: {}", folder, failed.message())};
  }
  return workspace;
}

Workspace::Workspace(Workspace&& other) noexcept : lock_(std::exchange(other.lock_, -1)) {}

Workspace::~Workspace() {
  if (lock_ >= 0) close(lock_);
}

}  // namespace batchweave::demo
