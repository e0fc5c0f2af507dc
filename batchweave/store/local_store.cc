#include "batchweave/store/local_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <set>

#include "batchweave/base/check.h"
#include "batchweave/base/fault_point.h"
#include "batchweave/store/local_list.h"

namespace batchweave {
namespace {

// A folder may be removed (Delete takes empty ones) as often as it is made; nobody does so this often in a row.
constexpr int kFolderAttemptsMax = 100;

// A producer's data lies in one folder, so this many producers a process are known at once; beyond, they are learnt anew.
constexpr size_t kSyncedFoldersMax = 4096;

// Beyond any file; pread(2) takes an offset of 63 bits, and adds a length to it.
constexpr uint64_t kOffsetMax = uint64_t{1} << 62;

// "a/b" of "a/b/c"; empty where there is no slash.
std::string FolderOf(std::string_view key) {
  const size_t slash = key.rfind('/');
  return std::string(key.substr(0, slash == std::string_view::npos ? 0 : slash));
}

std::string LeafOf(std::string_view key) { return std::string(key.substr(key.rfind('/') + 1)); }

}  // namespace

Result<std::unique_ptr<ObjectStore>> LocalStore::Open(const std::string& root, LocalStoreOptions options) {
  FileDescriptor fd = OpenAt(AT_FDCWD, root, O_RDONLY | O_DIRECTORY);
  if (!fd.valid()) {
    if (errno == ENOENT) return Error{ErrorCode::kNotFound, fmt::format("no such directory: path={}", root)};
    if (errno == ENOTDIR) return Error{ErrorCode::kNotFound, fmt::format("not a directory: path={}", root)};
    return ReadError(errno, "cannot open the directory", root);
  }
  RemoveAbandonedTemporaries(fd.get());
  // An unnamed file gets its name through its entry there.
  if (access("/proc/self/fd", X_OK) != 0) options.unnamed_temporaries = false;
  return std::unique_ptr<ObjectStore>(new LocalStore(root, std::move(fd), options));
}

LocalStore::LocalStore(std::string root, FileDescriptor root_fd, LocalStoreOptions options)
    : root_(std::move(root)),
      root_fd_(std::move(root_fd)),
      options_(options),
      unnamed_temporaries_(options.unnamed_temporaries) {}

Result<void> LocalStore::Put(std::string_view key_view, std::span<const ByteView> pieces, PutMode mode) {
  BW_TRY(CheckKey(key_view));
  const std::string key(key_view);
  // A loser that looks first writes nothing: under contention most are losers.
  if (mode == PutMode::kCreate && Exists(key)) return AlreadyExists(key);
  TemporaryFile file = BW_TRY(MakeTemporary(key, mode));
  Result<void> result = WriteAndPlace(file, key, pieces, mode);
  if (FailedWith(result, ErrorCode::kAlreadyExists)) spare_.Keep(std::move(file));
  return result;
}

Result<TemporaryFile> LocalStore::MakeTemporary(const std::string& key, PutMode mode) {
  int error = 0;
  // A rename needs a name to begin with.
  if (mode == PutMode::kCreate && unnamed_temporaries_) {
    TemporaryFile spare = spare_.Take(root_fd_.get());
    if (spare.valid()) return spare;
    TemporaryFile file = TemporaryFile::MakeUnnamed(root_fd_.get(), &error);
    if (error == 0) return file;
    if (error != EOPNOTSUPP) return WriteFailed(error, key);
    unnamed_temporaries_ = false;
  }
  TemporaryFile file = TemporaryFile::MakeNamed(root_fd_.get(), &error);
  if (error != 0) return WriteFailed(error, key);
  return file;
}

Result<void> LocalStore::WriteAndPlace(TemporaryFile& file, const std::string& key, std::span<const ByteView> pieces,
                                       PutMode mode) {
  if (const int error = WriteAll(file.fd(), pieces)) return WriteFailed(error, key);
  BW_FAULT_POINT("file.written");
  if (options_.durability == Durability::kFull) {
    // The sync is the dear part: look again before it.
    if (mode == PutMode::kCreate && Exists(key)) return AlreadyExists(key);
    if (const int error = Sync(file.fd())) return WriteFailed(error, key);
  }
  return Place(file, key, mode);
}

Result<void> LocalStore::Place(TemporaryFile& file, const std::string& key, PutMode mode) {
  const bool sync = options_.durability == Durability::kFull;
  for (int attempt = 0; attempt < kFolderAttemptsMax; ++attempt) {
    // Opened before the file has its place, so that nothing but the sync can fail after it.
    const FileDescriptor folder = sync ? BW_TRY(OpenFolder(key)) : FileDescriptor();
    // And once more: even a link that fails locks the folder against all others.
    if (mode == PutMode::kCreate && Exists(key)) return AlreadyExists(key);
    const int folder_fd = sync ? folder.get() : root_fd_.get();
    const std::string name = sync ? LeafOf(key) : key;
    const int error = mode == PutMode::kCreate ? file.LinkTo(folder_fd, name) : file.RenameTo(folder_fd, name);
    if (error == ENOENT) {
      BW_TRY(MakeFolders(key));
      continue;
    }
    if (error == EEXIST) return AlreadyExists(key);
    if (error != 0) return CommitError(error, "cannot give the object its place", PathOf(key));
    BW_FAULT_POINT("file.placed");
    if (!sync) return {};
    const int sync_error = Sync(folder.get());
    if (sync_error == 0) return {};
    return Error{ErrorCode::kUnknownOutcome,
                 fmt::format("written, but it may not survive a power loss: {}",
                             WriteError(sync_error, "cannot sync the folder", PathOf(key)).message)};
  }
  return Error{ErrorCode::kUnavailable, fmt::format("its folder keeps vanishing: path={}", PathOf(key))};
}

Result<FileDescriptor> LocalStore::OpenFolder(const std::string& key) {
  const std::string folder = FolderOf(key);
  for (int attempt = 0; attempt < kFolderAttemptsMax; ++attempt) {
    FileDescriptor fd = OpenAt(root_fd_.get(), folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
    if (!fd.valid() && errno != ENOENT) return WriteFailed(errno, key);
    if (fd.valid() && BW_TRY(SyncAncestors(folder, fd.get()))) return fd;
    BW_TRY(MakeFolders(key));
  }
  return Error{ErrorCode::kUnavailable, fmt::format("its folder keeps vanishing: path={}", PathOf(key))};
}

Result<void> LocalStore::MakeFolders(const std::string& key) {
  for (size_t slash = key.find('/'); slash != std::string::npos; slash = key.find('/', slash + 1)) {
    const std::string folder = key.substr(0, slash);
    if (mkdirat(root_fd_.get(), folder.c_str(), 0777) == 0) {
      // It may have got the inode of the one that was there before.
      std::lock_guard lock(mutex_);
      synced_folders_.erase(folder);
      continue;
    }
    if (errno == EEXIST) continue;
    // Somebody removed the folder above just now, or the root is gone: the former is for the caller's loop.
    if (errno == ENOENT && !RootIsGone()) return {};
    return WriteFailed(errno, key);
  }
  if (RootIsGone()) return WriteFailed(ENOENT, key);
  return {};
}

// A folder that another process has just made need not be on the disk yet, and with it what is put there. So whoever
// first puts something into a folder syncs the entries above it. One that is made anew in its place is told by its inode.
Result<bool> LocalStore::SyncAncestors(const std::string& folder, int folder_fd) {
  if (folder.empty()) return true;
  struct stat status;
  if (fstat(folder_fd, &status) != 0) return WriteFailed(errno, folder);
  {
    std::lock_guard lock(mutex_);
    const auto known = synced_folders_.find(folder);
    if (known != synced_folders_.end() && known->second == status.st_ino) return true;
  }
  for (std::string path = folder; !path.empty();) {
    path = FolderOf(path);
    const FileDescriptor ancestor = OpenAt(root_fd_.get(), path.empty() ? "." : path, O_RDONLY | O_DIRECTORY);
    if (!ancestor.valid() && errno == ENOENT) return false;
    if (!ancestor.valid()) return WriteFailed(errno, folder);
    if (const int error = Sync(ancestor.get())) return WriteFailed(error, folder);
  }
  std::lock_guard lock(mutex_);
  if (synced_folders_.size() >= kSyncedFoldersMax) synced_folders_.clear();
  synced_folders_[folder] = status.st_ino;
  return true;
}

Result<void> LocalStore::Get(std::span<ReadRequest> requests) {
  for (ReadRequest& request : requests) BW_TRY(ReadRange(request));
  return {};
}

Result<void> LocalStore::ReadRange(ReadRequest& request) {
  request.received_bytes = 0;
  if (request.buffer.empty()) {
    BW_TRY(Stat(request.key));
    return {};
  }
  const FileDescriptor file = BW_TRY(OpenObject(request.key));
  return ReadFile(file.get(), request);
}

Result<void> LocalStore::ReadFile(int fd, ReadRequest& request) {
  if (request.offset > kOffsetMax) return {};
  while (request.received_bytes < request.buffer.size()) {
    const MutableByteView rest = request.buffer.subspan(request.received_bytes);
    const MutableByteView block = rest.first(std::min(rest.size(), kReadBlockBytes));
    const ssize_t size =
        pread(fd, block.data(), block.size(), static_cast<off_t>(request.offset + request.received_bytes));
    if (size < 0 && errno == EINTR) continue;
    // A directory can be opened, but is no object.
    if (size < 0) return errno == EISDIR ? NotFound(request.key) : ReadFailed(errno, request.key);
    if (size == 0) break;
    request.received_bytes += static_cast<size_t>(size);
    if (request.observer != nullptr) request.observer->OnBytes(block.first(static_cast<size_t>(size)));
  }
  return {};
}

// Size and bytes are of one file: by its name it might be overwritten with a longer one in between.
Result<Bytes> LocalStore::Read(std::string_view key) {
  const FileDescriptor file = BW_TRY(OpenObject(key));
  struct stat status;
  if (fstat(file.get(), &status) != 0) return ReadFailed(errno, key);
  if (!S_ISREG(status.st_mode)) return NotFound(key);
  Bytes bytes(static_cast<size_t>(status.st_size));
  ReadRequest request{.key = key, .buffer = bytes};
  BW_TRY(ReadFile(file.get(), request));
  bytes.resize(request.received_bytes);
  return bytes;
}

Result<uint64_t> LocalStore::Stat(std::string_view key) {
  BW_TRY(CheckKey(key));
  struct stat status;
  if (fstatat(root_fd_.get(), std::string(key).c_str(), &status, 0) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? NotFound(key) : ReadFailed(errno, key);
  }
  if (!S_ISREG(status.st_mode)) return NotFound(key);
  return static_cast<uint64_t>(status.st_size);
}

Result<ListPage> LocalStore::List(std::string_view prefix, std::string_view start_after, size_t limit) {
  BW_CHECK(limit >= 1);
  if (RootIsGone()) return NotFound(prefix);
  return ListDirectory(root_fd_.get(), root_, prefix, start_after, limit);
}

Result<void> LocalStore::Delete(std::span<const std::string> keys) {
  for (const std::string& key : keys) BW_TRY(CheckKey(key));
  if (RootIsGone()) return NotFound("");
  std::set<std::string> folders;
  for (const std::string& key : keys) {
    if (!folders.empty()) BW_FAULT_POINT("file.deleted");
    if (unlinkat(root_fd_.get(), key.c_str(), 0) == 0) {
      folders.insert(FolderOf(key));
    } else if (errno != ENOENT && errno != ENOTDIR && errno != EISDIR) {
      return WriteError(errno, "cannot delete", PathOf(key));
    }
  }
  for (const std::string& folder : folders) RemoveEmptyFolders(folder);
  return {};
}

// Harmless to a put at the same time: it makes the folder again.
void LocalStore::RemoveEmptyFolders(std::string folder) {
  while (!folder.empty() && unlinkat(root_fd_.get(), folder.c_str(), AT_REMOVEDIR) == 0) folder = FolderOf(folder);
}

StoreTraits LocalStore::traits() const {
  return {.ordered_list = false, .put_bytes_max = std::numeric_limits<int64_t>::max()};
}

Result<FileDescriptor> LocalStore::OpenObject(std::string_view key) {
  BW_TRY(CheckKey(key));
  FileDescriptor file = OpenAt(root_fd_.get(), std::string(key), O_RDONLY);
  if (file.valid()) return file;
  return errno == ENOENT || errno == ENOTDIR ? NotFound(key) : ReadFailed(errno, key);
}

bool LocalStore::Exists(const std::string& key) const {
  struct stat status;
  return fstatat(root_fd_.get(), key.c_str(), &status, 0) == 0;
}

bool LocalStore::RootIsGone() const {
  struct stat status;
  return fstat(root_fd_.get(), &status) == 0 && status.st_nlink == 0;
}

Error LocalStore::AlreadyExists(const std::string& key) const {
  struct stat status;
  const bool folder = fstatat(root_fd_.get(), key.c_str(), &status, 0) == 0 && S_ISDIR(status.st_mode);
  if (folder) return WriteFailed(EISDIR, key);
  return {ErrorCode::kAlreadyExists, fmt::format("object exists: key={}", key)};
}

Error LocalStore::NotFound(std::string_view key) const {
  if (RootIsGone()) return {ErrorCode::kDenied, fmt::format("the store's directory was removed: path={}", root_)};
  return {ErrorCode::kNotFound, fmt::format("no such object: key={}", key)};
}

Error LocalStore::ReadFailed(int code, std::string_view key) const {
  return ReadError(code, "cannot read", PathOf(key));
}

Error LocalStore::WriteFailed(int code, std::string_view key) const {
  if (code == ENOENT && RootIsGone()) return NotFound(key);
  return WriteError(code, "cannot write", PathOf(key));
}

std::string LocalStore::PathOf(std::string_view key) const { return fmt::format("{}/{}", root_, key); }

}  // namespace batchweave
