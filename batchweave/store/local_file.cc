#include "batchweave/store/local_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace batchweave {
namespace {

// As many pieces as one call may gather (IOV_MAX of Linux is 1024): a batch of more slices takes several calls.
constexpr size_t kPiecesPerCall = 256;

std::string Cause(int code) {
  switch (code) {
    case ENOSPC: return "the disk is full";
    case EDQUOT: return "the quota is used up";
    case EROFS: return "the file system is read-only";
    case EACCES:
    case EPERM: return "permission denied";
    case EFBIG: return "larger than a file may be here";
    case EMFILE:
    case ENFILE: return "too many open files";
    case EXDEV: return "the folder is on another file system than the store";
    case ENOTDIR: return "a part of the key before its last is itself a key";
    case EISDIR: return "other keys lie below this one";
    default: return std::generic_category().message(code);
  }
}

bool NeedsAPerson(int code) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
    case EROFS:
    case EACCES:
    case EPERM:
    case EFBIG:
    case EXDEV:
    case ELOOP:
    case EMLINK:
    case EOPNOTSUPP: return true;
    default: return false;
  }
}

Error MakeError(ErrorCode code, int cause, std::string_view action, std::string_view path) {
  return {code, fmt::format("{}: {}: path={}", action, Cause(cause), path)};
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (valid()) close(fd_);
}

FileDescriptor OpenAt(int folder_fd, const std::string& path, int flags, unsigned mode) {
  int fd = -1;
  do {
    fd = openat(folder_fd, path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return FileDescriptor(fd);
}

int WriteAll(int fd, std::span<const ByteView> pieces) {
  off_t at = 0;
  size_t written_of_first = 0;  // Of pieces.front(), by a call that stopped in its middle.
  while (!pieces.empty()) {
    std::array<iovec, kPiecesPerCall> vectors;
    const size_t count = std::min(pieces.size(), vectors.size());
    for (size_t i = 0; i < count; ++i) {
      const ByteView piece = i == 0 ? pieces[i].subspan(written_of_first) : pieces[i];
      vectors[i] = {const_cast<std::byte*>(piece.data()), piece.size()};
    }
    const ssize_t written = pwritev(fd, vectors.data(), static_cast<int>(count), at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    at += written;
    size_t left = static_cast<size_t>(written);
    bool moved = left > 0;
    while (!pieces.empty() && left >= pieces.front().size() - written_of_first) {
      left -= pieces.front().size() - written_of_first;
      written_of_first = 0;
      pieces = pieces.subspan(1);
      moved = true;
    }
    written_of_first += left;
    // No system should do this; were one to, the loop would be endless.
    if (!moved) return EIO;
  }
  return 0;
}

int Sync(int fd) {
  while (fsync(fd) != 0) {
    if (errno == EINVAL) return 0;
    if (errno != EINTR) return errno;
  }
  return 0;
}

Error ReadError(int code, std::string_view action, std::string_view path) {
  return MakeError(NeedsAPerson(code) ? ErrorCode::kDenied : ErrorCode::kUnavailable, code, action, path);
}

Error WriteError(int code, std::string_view action, std::string_view path) {
  const bool clash = code == ENOTDIR || code == EISDIR || code == ENAMETOOLONG;
  if (clash) return MakeError(ErrorCode::kInvalidArgument, code, action, path);
  return MakeError(NeedsAPerson(code) ? ErrorCode::kDenied : ErrorCode::kUnavailable, code, action, path);
}

Error CommitError(int code, std::string_view action, std::string_view path) {
  Error error = WriteError(code, action, path);
  const bool nothing_happened =
      error.code != ErrorCode::kUnavailable || code == ENOMEM || code == EMFILE || code == ENFILE;
  if (nothing_happened) return error;
  return MakeError(ErrorCode::kUnknownOutcome, code, action, path);
}

}  // namespace batchweave
