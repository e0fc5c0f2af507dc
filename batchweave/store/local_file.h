// The system calls of the local store: descriptors that close themselves, whole writes, and what an errno means.
// Functions return 0 or an errno; only those at the end, which know what was being done, make it an Error.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "batchweave/base/bytes.h"
#include "batchweave/base/error.h"

namespace batchweave {

// Owns an open file or directory. Not safe for concurrent use.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();

  bool valid() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

// openat(2) with O_CLOEXEC, tried again when interrupted. Where it fails the descriptor is invalid and errno is set.
FileDescriptor OpenAt(int folder_fd, const std::string& path, int flags, unsigned mode = 0);

// Writes all of `pieces` from the start of the file on, however many and however large they are.
int WriteAll(int fd, std::span<const ByteView> pieces);

// fsync(2). A file system that cannot sync a folder (EINVAL) is taken at its word that it need not.
int Sync(int fd);

// `action` is what failed ("cannot write"), `path` where; the message adds the cause in words.

// Of a read: kNotFound is the caller's to tell. kDenied where a person must act, else kUnavailable.
Error ReadError(int code, std::string_view action, std::string_view path);

// Of a write of which nothing can be seen yet: kDenied where a person must act (disk full, quota, read-only, permission),
// kInvalidArgument where the key clashes with others, else kUnavailable. Never kAlreadyExists (fault A7).
Error WriteError(int code, std::string_view action, std::string_view path);

// Of the call that makes a write visible: as WriteError where `code` says that nothing happened, else kUnknownOutcome.
Error CommitError(int code, std::string_view action, std::string_view path);

}  // namespace batchweave
