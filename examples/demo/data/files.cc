#include "examples/demo/data/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace batchweave::demo {
namespace {

// A file descriptor that closes itself; -1 where opening failed.
class OpenFile {
 public:
  OpenFile(const std::string& path, int flags) : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

Error LastError(std::string_view what, const std::string& path) {
  const int number = errno;
  const std::string message = fmt::format("{}: path={} cause={}", what, path, std::generic_category().message(number));
  switch (number) {
    case ENOENT: return Error{ErrorCode::kNotFound, message};
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOSPC:
    case EDQUOT: return Error{ErrorCode::kDenied, message};
    default: return Error{ErrorCode::kUnavailable, message};
  }
}

Result<void> WriteNewFile(const std::string& path, ByteView bytes) {
  const OpenFile file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.get() < 0) return LastError("cannot create file", path);
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0) return LastError("cannot write file", path);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  if (::fsync(file.get()) != 0) return LastError("cannot write file", path);
  return {};
}

}  // namespace

Result<Bytes> ReadFile(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return LastError("cannot read file", path);
  return ReadFileRange(path, {.offset = 0, .size_bytes = static_cast<uint64_t>(status.st_size)});
}

Result<Bytes> ReadFileRange(const std::string& path, FileRange range) {
  const OpenFile file(path, O_RDONLY);
  if (file.get() < 0) return LastError("cannot read file", path);
  Bytes bytes(range.size_bytes);
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t count =
        ::pread(file.get(), bytes.data() + filled, bytes.size() - filled, static_cast<off_t>(range.offset + filled));
    if (count < 0) return LastError("cannot read file", path);
    if (count == 0) break;
    filled += static_cast<size_t>(count);
  }
  bytes.resize(filled);
  return bytes;
}

Result<void> ReplaceFile(const std::string& path, ByteView bytes) {
  const std::string draft = fmt::format("{}.{}.draft", path, ::getpid());
  BW_TRY(WriteNewFile(draft, bytes));
  if (std::rename(draft.c_str(), path.c_str()) != 0) return LastError("cannot replace file", path);
  return {};
}

}  // namespace batchweave::demo
