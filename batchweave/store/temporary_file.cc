#include "batchweave/store/temporary_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "batchweave/base/random.h"

namespace batchweave {
namespace {

// Each try draws a new name of 64 random bits; it fails only where somebody removed folder or file in between.
constexpr int kNameAttemptsMax = 16;

// The process umask narrows it, as for any file that a program makes.
constexpr unsigned kFileMode = 0666;

std::string ProcPath(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

// The halves of SpareFile's word.
int DescriptorOf(uint64_t spare) { return static_cast<int>(spare & 0xffffffff) - 1; }
pid_t ProcessOf(uint64_t spare) { return static_cast<pid_t>(spare >> 32); }
uint64_t MakeSpare(int fd) { return (static_cast<uint64_t>(getpid()) << 32) | (static_cast<uint64_t>(fd) + 1); }

bool HasLinks(int fd, nlink_t links) {
  struct stat status;
  return fstat(fd, &status) == 0 && status.st_nlink == links;
}

}  // namespace

TemporaryFile::TemporaryFile(FileDescriptor fd, int root_fd, std::string name)
    : fd_(std::move(fd)), root_fd_(root_fd), name_(std::move(name)) {}

TemporaryFile::~TemporaryFile() {
  if (valid() && !name_.empty()) unlinkat(root_fd_, name_.c_str(), 0);
}

TemporaryFile TemporaryFile::MakeUnnamed(int root_fd, int* error) {
  FileDescriptor fd = OpenAt(root_fd, ".", O_TMPFILE | O_WRONLY, kFileMode);
  *error = fd.valid() ? 0 : errno;
  // Kernels and file systems that know nothing of O_TMPFILE see an open of a directory for writing.
  if (*error == EISDIR || *error == EINVAL) *error = EOPNOTSUPP;
  return TemporaryFile(std::move(fd), root_fd, "");
}

TemporaryFile TemporaryFile::MakeNamed(int root_fd, int* error) {
  SystemRandom random;
  for (int attempt = 0; attempt < kNameAttemptsMax; ++attempt) {
    std::string name = fmt::format("{}/{:016x}", kTemporaryFolder, random.Next());
    FileDescriptor fd = OpenAt(root_fd, name, O_CREAT | O_EXCL | O_WRONLY, kFileMode);
    *error = fd.valid() ? 0 : errno;
    if (*error == ENOENT) {
      if (mkdirat(root_fd, kTemporaryFolder, 0777) != 0 && errno != EEXIST) {
        *error = errno;
        break;
      }
      continue;
    }
    if (*error == EEXIST) continue;
    if (*error != 0) break;
    TemporaryFile file(std::move(fd), root_fd, std::move(name));
    // Between its making and this lock, RemoveAbandonedTemporaries may have taken it for abandoned. Where there are no
    // locks at all, that removes nothing.
    const bool taken = flock(file.fd(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && HasLinks(file.fd(), 1)) return file;
    *error = EAGAIN;
  }
  return TemporaryFile(FileDescriptor(), root_fd, "");
}

int TemporaryFile::LinkTo(int folder_fd, const std::string& path) {
  const int linked = name_.empty()
                         ? linkat(AT_FDCWD, ProcPath(fd()).c_str(), folder_fd, path.c_str(), AT_SYMLINK_FOLLOW)
                         : linkat(root_fd_, name_.c_str(), folder_fd, path.c_str(), 0);
  return linked == 0 ? 0 : errno;
}

int TemporaryFile::RenameTo(int folder_fd, const std::string& path) {
  if (renameat(root_fd_, name_.c_str(), folder_fd, path.c_str()) != 0) return errno;
  name_.clear();
  return 0;
}

SpareFile::~SpareFile() { Take(-1); }

TemporaryFile SpareFile::Take(int root_fd) {
  const uint64_t spare = spare_.exchange(0);
  if (spare == 0) return TemporaryFile(FileDescriptor(), root_fd, "");
  FileDescriptor fd(DescriptorOf(spare));
  // A child shares its parent's spare inode: were both to write it, one's bytes would be linked under the other's key.
  const bool mine = ProcessOf(spare) == getpid();
  // A server that was asked twice may have answered "exists" to a link that took.
  if (!mine || !HasLinks(fd.get(), 0)) fd = FileDescriptor();
  return TemporaryFile(std::move(fd), root_fd, "");
}

void SpareFile::Keep(TemporaryFile file) {
  if (!file.valid() || !file.name_.empty() || ftruncate(file.fd(), 0) != 0) return;
  const uint64_t previous = spare_.exchange(MakeSpare(file.fd_.Release()));
  if (previous != 0) close(DescriptorOf(previous));
}

void RemoveAbandonedTemporaries(int root_fd) {
  FileDescriptor folder = OpenAt(root_fd, kTemporaryFolder, O_RDONLY | O_DIRECTORY);
  if (!folder.valid()) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(folder.get()), closedir);
  if (entries == nullptr) return;
  const int folder_fd = folder.Release();
  while (const dirent* entry = readdir(entries.get())) {
    if (entry->d_type == DT_DIR) continue;
    const FileDescriptor file = OpenAt(folder_fd, entry->d_name, O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
    if (file.valid() && flock(file.get(), LOCK_EX | LOCK_NB) == 0) unlinkat(folder_fd, entry->d_name, 0);
  }
}

}  // namespace batchweave
