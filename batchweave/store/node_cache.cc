#include "batchweave/store/node_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

namespace batchweave {
namespace {

constexpr const char* kLockFile = "lock";
constexpr const char* kUsageFile = "usage";
constexpr const char* kAbsencesFile = "absences";

// What the directory holds besides copies: the files above, its folders.
constexpr uint64_t kBookkeepingBytes = uint64_t{1} << 20;
// Files take whole blocks.
constexpr uint64_t kBlockBytes = 4096;
// Who makes room makes more than it needs, or each copy would cost a look at all of them.
constexpr uint64_t kRoomOfBudget = 10;
// The budget is held for as long as a look at the whole directory takes, at most. Who cannot have it keeps nothing.
constexpr int kBudgetTriesMax = 100;
constexpr Duration kBudgetWait = std::chrono::milliseconds(1);

// Before the bytes of a copy. Of this host alone: its own order of bytes.
struct Head {
  static constexpr uint64_t kMagic = 0x31657079636f4342;
  uint64_t magic = kMagic;
  uint64_t size_bytes = 0;
  uint64_t hash = 0;
  Hash128 id{};
  uint64_t own_hash = 0;  // Of the fields before.
};

struct Usage {
  uint64_t bytes = 0;
  uint64_t own_hash = 0;
};

struct AbsenceRecord {
  uint64_t folder = 0;
  uint64_t asking = 0;
  Hash128 id{};
  uint64_t own_hash = 0;
};
// Folders that fall together forget each other's, which costs a request.
constexpr uint64_t kAbsencesMax = 256;

template <typename T>
ByteView BytesOf(const T& record) {
  return std::as_bytes(std::span(&record, 1));
}

// Of all that lies before `own_hash`, the last field.
template <typename T>
uint64_t OwnHash(const T& record) {
  return Hash64(BytesOf(record).first(sizeof(T) - sizeof(uint64_t)));
}

template <typename T>
std::optional<T> ReadRecord(int fd, uint64_t at) {
  T record;
  const ssize_t size = pread(fd, &record, sizeof(record), static_cast<off_t>(at));
  if (size != static_cast<ssize_t>(sizeof(record)) || record.own_hash != OwnHash(record)) return std::nullopt;
  return record;
}

template <typename T>
void WriteRecord(int fd, uint64_t at, T record) {
  record.own_hash = OwnHash(record);
  // Half a record has no hash, and who reads it does without.
  (void)!pwrite(fd, &record, sizeof(record), static_cast<off_t>(at));
}

uint64_t ChargeOf(uint64_t size_bytes) {
  return (sizeof(Head) + size_bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

std::string NameOf(const NodeCache::Place& place) { return fmt::format("{:020}-{}", place.step, ToHex(place.id)); }
std::string PathOf(const NodeCache::Place& place) { return fmt::format("{}/{}", place.folder, NameOf(place)); }

std::optional<uint64_t> StepOf(std::string_view name) {
  constexpr size_t kStepDigits = 20;
  constexpr size_t kNameBytes = kStepDigits + 1 + 32;
  uint64_t step = 0;
  if (name.size() != kNameBytes || name[kStepDigits] != '-') return std::nullopt;
  const std::string_view digits = name.substr(0, kStepDigits);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return step;
}

// `visit(name, bytes)` of each file of a folder.
template <typename Visit>
void ForEachFile(int root_fd, const std::string& folder, Visit visit) {
  FileDescriptor fd = OpenAt(root_fd, folder, O_RDONLY | O_DIRECTORY);
  if (!fd.valid()) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(fd.get()), closedir);
  if (entries == nullptr) return;
  const int folder_fd = fd.Release();
  while (const dirent* entry = readdir(entries.get())) {
    struct stat status;
    if (fstatat(folder_fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    visit(std::string(entry->d_name), status);
  }
}

uint64_t BlocksOf(const struct stat& status) {
  return (static_cast<uint64_t>(status.st_size) + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

bool IsFolderName(std::string_view name) {
  constexpr size_t kFolderDigits = 16;
  return name.size() == kFolderDigits && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

Result<std::unique_ptr<NodeCache>> NodeCache::Open(const NodeCacheOptions& options, Clock& clock) {
  if (options.bytes_max < kNodeCacheBytesMin) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("node_cache_bytes is at least {}: found={}", kNodeCacheBytesMin, options.bytes_max)};
  }
  if (mkdir(options.dir.c_str(), 0700) != 0 && errno != EEXIST) {
    if (errno == ENOENT) {
      return Error{ErrorCode::kNotFound, fmt::format("no folder to make node_cache_dir in: path={}", options.dir)};
    }
    return WriteError(errno, "cannot make node_cache_dir", options.dir);
  }
  FileDescriptor root = OpenAt(AT_FDCWD, options.dir, O_RDONLY | O_DIRECTORY);
  if (!root.valid()) return WriteError(errno, "cannot open node_cache_dir", options.dir);
  struct stat status;
  if (fstat(root.get(), &status) == 0 && (status.st_mode & S_IWOTH) != 0) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("node_cache_dir may be written by everybody: use a folder of the job's own: path={}", options.dir)};
  }
  RemoveAbandonedTemporaries(root.get());
  return std::unique_ptr<NodeCache>(new NodeCache(std::move(root), options.bytes_max, clock));
}

NodeCache::NodeCache(FileDescriptor root, uint64_t bytes_max, Clock& clock)
    : root_(std::move(root)), bytes_max_(bytes_max - kBookkeepingBytes), clock_(clock) {}

std::optional<NodeCache::Copy> NodeCache::Find(const Place& place) {
  Copy copy{.file = OpenAt(root_.get(), PathOf(place), O_RDONLY | O_NOFOLLOW)};
  if (!copy.file.valid()) return std::nullopt;
  const std::optional<Head> head = ReadRecord<Head>(copy.file.get(), 0);
  struct stat status;
  const bool is_whole = head && head->magic == Head::kMagic && head->id == place.id &&
                        fstat(copy.file.get(), &status) == 0 &&
                        static_cast<uint64_t>(status.st_size) == sizeof(Head) + head->size_bytes;
  if (!is_whole) {
    Remove(place);
    return std::nullopt;
  }
  copy.size_bytes = head->size_bytes;
  copy.hash = head->hash;
  return copy;
}

bool NodeCache::Read(const Place& place, const Copy& copy, MutableByteView buffer, ReadObserver* observer) {
  Hasher64 hasher;
  size_t done = 0;
  while (done < buffer.size()) {
    const MutableByteView block = buffer.subspan(done, std::min(buffer.size() - done, kReadBlockBytes));
    const ssize_t size = pread(copy.file.get(), block.data(), block.size(), static_cast<off_t>(sizeof(Head) + done));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    const ByteView piece = block.first(static_cast<size_t>(size));
    hasher.Update(piece);
    if (observer != nullptr) observer->OnBytes(piece);
    done += piece.size();
  }
  if (done == copy.size_bytes && hasher.Digest() == copy.hash) return true;
  Remove(place);
  return false;
}

bool NodeCache::Keep(const Place& place, ByteView bytes) {
  TemporaryFile file = Reserve(place, sizeof(Head) + bytes.size(), ChargeOf(bytes.size()));
  if (!file.valid()) return false;
  Head head{.size_bytes = bytes.size(), .hash = Hash64(bytes), .id = place.id};
  head.own_hash = OwnHash(head);
  const std::array<ByteView, 2> pieces = {BytesOf(head), bytes};
  return WriteAll(file.fd(), pieces) == 0 && Move(file, place);
}

bool NodeCache::Move(TemporaryFile& file, const Place& place) {
  int error = file.RenameTo(root_.get(), PathOf(place));
  if (error == ENOENT && (mkdirat(root_.get(), place.folder.c_str(), 0700) == 0 || errno == EEXIST)) {
    error = file.RenameTo(root_.get(), PathOf(place));
  }
  return error == 0;
}

// The file has its whole length before it has its bytes: whoever looks at the directory meanwhile counts it in full.
TemporaryFile NodeCache::Reserve(const Place& place, uint64_t size_bytes, uint64_t charge) {
  std::optional<TemporaryFile> file;
  const std::optional<Lock> budget = charge <= bytes_max_ ? LockBudget() : std::nullopt;
  if (budget) {
    std::optional<uint64_t> used = ReadUsage();
    if (!used || *used + charge > bytes_max_) {
      used = Shrink(bytes_max_ - std::max(charge, bytes_max_ / kRoomOfBudget), place);
    }
    if (*used + charge <= bytes_max_) {
      int error = MakeSized(place, size_bytes, file);
      if (error == ENOSPC || error == EDQUOT) {
        // Others fill the disk: what it has room for is the budget now.
        used = Shrink(*used - std::min(*used, std::max(charge, *used / kRoomOfBudget)), place);
        error = MakeSized(place, size_bytes, file);
      }
      WriteUsage(error == 0 ? *used + charge : *used);
      if (error == 0) return *std::move(file);
    }
  }
  return TemporaryFile::None();
}

int NodeCache::MakeSized(const Place& /*place*/, uint64_t size_bytes, std::optional<TemporaryFile>& file) {
  int error = 0;
  file.reset();
  file.emplace(TemporaryFile::MakeNamed(root_.get(), &error));
  if (error != 0) return error;
  const auto size = static_cast<off_t>(size_bytes);
  if (fallocate(file->fd(), 0, 0, size) == 0) return 0;
  if (errno == EOPNOTSUPP && ftruncate(file->fd(), size) == 0) return 0;
  error = errno;
  file.reset();
  return error;
}

std::vector<CachedCopy> NodeCache::Scan(uint64_t& other_bytes) {
  // First: what leaves there meanwhile is met again where it goes to, perhaps in a folder that is made for it.
  other_bytes = 0;
  ForEachFile(root_.get(), kTemporaryFolder, [&](const std::string&, const struct stat& status) {
    if (S_ISREG(status.st_mode)) other_bytes += BlocksOf(status);
  });
  std::vector<std::string> folders;
  ForEachFile(root_.get(), ".", [&](const std::string& name, const struct stat& status) {
    if (S_ISDIR(status.st_mode) && IsFolderName(name)) folders.push_back(name);
  });
  std::vector<CachedCopy> copies;
  for (const std::string& folder : folders) {
    ForEachFile(root_.get(), folder, [&](const std::string& name, const struct stat& status) {
      const std::optional<uint64_t> step = StepOf(name);
      if (S_ISREG(status.st_mode) && step) {
        copies.push_back({.folder = folder, .name = name, .step = *step, .bytes = BlocksOf(status)});
      }
    });
  }
  return copies;
}

// Returns what is taken then, by a look at all that is there: what a killed process had counted and never written, or
// somebody has removed, is known again.
uint64_t NodeCache::Shrink(uint64_t bytes_max, const Place& place) {
  RemoveAbandonedTemporaries(root_.get());
  uint64_t other_bytes = 0;
  const std::vector<CachedCopy> copies = Scan(other_bytes);
  uint64_t used = other_bytes;
  for (const CachedCopy& copy : copies) used += copy.bytes;
  const uint64_t left = bytes_max - std::min(bytes_max, other_bytes);
  for (const size_t index : PlanEviction(copies, left, place.folder, place.step)) {
    const CachedCopy& copy = copies[index];
    if (unlinkat(root_.get(), fmt::format("{}/{}", copy.folder, copy.name).c_str(), 0) == 0 || errno == ENOENT) {
      used -= copy.bytes;
    }
    // Of the last one: fails where there are more.
    unlinkat(root_.get(), copy.folder.c_str(), AT_REMOVEDIR);
  }
  return used;
}

uint64_t NodeCache::CountBytes() {
  uint64_t bytes = 0;
  for (const CachedCopy& copy : Scan(bytes)) bytes += copy.bytes;
  return bytes;
}

std::optional<uint64_t> NodeCache::ReadUsage() {
  const FileDescriptor file = OpenAt(root_.get(), kUsageFile, O_RDONLY);
  if (!file.valid()) return std::nullopt;
  const std::optional<Usage> usage = ReadRecord<Usage>(file.get(), 0);
  return usage ? std::optional(usage->bytes) : std::nullopt;
}

void NodeCache::WriteUsage(uint64_t bytes) {
  const FileDescriptor file = OpenAt(root_.get(), kUsageFile, O_WRONLY | O_CREAT, 0600);
  if (file.valid()) WriteRecord(file.get(), 0, Usage{.bytes = bytes});
}

void NodeCache::Remove(const Place& place) { unlinkat(root_.get(), PathOf(place).c_str(), 0); }

NodeCache::Lock::~Lock() {
  if (!file_.valid()) return;
  // A forked child has the file too, and would hold the lock on.
  struct flock range{
      .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = static_cast<off_t>(at_), .l_len = 1, .l_pid = 0};
  fcntl(file_.get(), F_OFD_SETLK, &range);
}

NodeCache::LockTry NodeCache::LockAt(uint64_t at) {
  FileDescriptor file = OpenAt(root_.get(), kLockFile, O_RDWR | O_CREAT, 0600);
  if (!file.valid()) return {.state = LockState::kNone};
  struct flock range{
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = static_cast<off_t>(at), .l_len = 1, .l_pid = 0};
  if (fcntl(file.get(), F_OFD_SETLK, &range) == 0) {
    return {.state = LockState::kOurs, .lock = Lock(std::move(file), at)};
  }
  return {.state = errno == EAGAIN || errno == EACCES ? LockState::kTheirs : LockState::kNone};
}

NodeCache::LockTry NodeCache::TryLock(const Hash128& id) { return LockAt(1 + (id.low >> 2)); }

std::optional<NodeCache::Lock> NodeCache::LockBudget() {
  for (int tries = 0; tries < kBudgetTriesMax; ++tries) {
    LockTry tried = LockAt(0);
    if (tried.state == LockState::kOurs) return std::move(tried.lock);
    if (tried.state == LockState::kNone) return std::nullopt;
    clock_.SleepUntil(After(clock_.Now(), kBudgetWait));
  }
  return std::nullopt;
}

std::optional<NodeCache::Absence> NodeCache::LastAbsence(const std::string& folder) {
  const FileDescriptor file = OpenAt(root_.get(), kAbsencesFile, O_RDONLY);
  if (!file.valid()) return std::nullopt;
  const uint64_t hash = Hash64(AsBytes(folder));
  const auto record = ReadRecord<AbsenceRecord>(file.get(), hash % kAbsencesMax * sizeof(AbsenceRecord));
  if (!record || record->folder != hash) return std::nullopt;
  return Absence{.id = record->id, .asking = record->asking};
}

void NodeCache::TellAbsence(const std::string& folder, const Absence& absence) {
  const FileDescriptor file = OpenAt(root_.get(), kAbsencesFile, O_WRONLY | O_CREAT, 0600);
  if (!file.valid()) return;
  const uint64_t hash = Hash64(AsBytes(folder));
  WriteRecord(file.get(), hash % kAbsencesMax * sizeof(AbsenceRecord),
              AbsenceRecord{.folder = hash, .asking = absence.asking, .id = absence.id});
}

}  // namespace batchweave
