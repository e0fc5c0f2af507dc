// Where the local store writes what nobody may see yet, until it is linked or renamed into its place.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "batchweave/store/local_file.h"

namespace batchweave {

// The folder of named temporaries, below the root of the store. No key begins with a dot.
inline constexpr const char* kTemporaryFolder = ".tmp";

// An empty file without a place. Not safe for concurrent use. Destroying it removes what was not moved.
class TemporaryFile {
 public:
  // A file without a name (O_TMPFILE): it vanishes with its process. `error`: 0, or the errno why it is invalid;
  // EOPNOTSUPP where the file system has none.
  static TemporaryFile MakeUnnamed(int root_fd, int* error);

  // A file in kTemporaryFolder, held by flock(2) so that RemoveAbandoned leaves it alone. `error` as above.
  static TemporaryFile MakeNamed(int root_fd, int* error);

  // An invalid one, for who has none.
  static TemporaryFile None() { return {FileDescriptor(), -1, ""}; }

  TemporaryFile(TemporaryFile&& other) noexcept = default;
  TemporaryFile& operator=(TemporaryFile&& other) noexcept = delete;
  ~TemporaryFile();

  bool valid() const { return fd_.valid(); }
  int fd() const { return fd_.get(); }

  // Gives the file a place where there is nothing: link(2). The temporary is used up unless it returns EEXIST.
  int LinkTo(int folder_fd, const std::string& path);

  // Gives the file a place whatever is there: rename(2). Named ones only.
  int RenameTo(int folder_fd, const std::string& path);

 private:
  friend class SpareFile;
  TemporaryFile(FileDescriptor fd, int root_fd, std::string name);

  FileDescriptor fd_;
  int root_fd_;
  std::string name_;  // Relative to the root; empty where it has none.
};

// Holds at most one unnamed temporary of a lost create for the next one: under contention, making an inode is what
// an attempt costs most. Safe for concurrent use; a forked child never takes its parent's.
class SpareFile {
 public:
  SpareFile() = default;
  ~SpareFile();
  SpareFile(const SpareFile&) = delete;
  SpareFile& operator=(const SpareFile&) = delete;

  // An empty file, or an invalid one where there is no spare.
  TemporaryFile Take(int root_fd);

  // Keeps `file` if it was never linked; else it is dropped.
  void Keep(TemporaryFile file);

 private:
  // One word, so that no lock can be held across a fork: the process id, then the descriptor plus one. 0: none.
  std::atomic<uint64_t> spare_{0};
};

// Removes named temporaries whose writers have died. What cannot be removed stays.
void RemoveAbandonedTemporaries(int root_fd);

}  // namespace batchweave
