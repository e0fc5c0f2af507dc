#include "batchweave/store/local_list.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "batchweave/store/local_file.h"

namespace batchweave {
namespace {

enum class Kind { kFile, kFolder, kOther };

class Listing {
 public:
  Listing(int root_fd, std::string_view root, std::string_view prefix, std::string_view start_after, size_t limit)
      : root_fd_(root_fd), root_(root), prefix_(prefix), start_after_(start_after), limit_(limit) {}

  Result<ListPage> Run() {
    // Everything that begins with the prefix lies in this folder or below it.
    const std::string folder(prefix_.substr(0, prefix_.rfind('/') + 1));
    // "../" is no way out of the store.
    if (!folder.empty() && !IsValidKey(std::string_view(folder).substr(0, folder.size() - 1))) return ListPage{};
    BW_TRY(Visit(folder));
    return std::move(page_);
  }

 private:
  bool full() const { return !page_.next_start_after.empty(); }

  // Adds what lies below `folder` ("" or "a/b/"). Recursion ends: keys have a largest size.
  Result<void> Visit(const std::string& folder) {
    for (const std::string& name : BW_TRY(NamesIn(folder))) {
      BW_TRY(name.back() == '/' ? Visit(folder + name) : Add(folder + name));
      if (full()) return {};
    }
    return {};
  }

  Result<void> Add(std::string key) {
    struct stat status;
    if (fstatat(root_fd_, key.c_str(), &status, 0) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return {};
      return ReadError(errno, "cannot list", PathOf(key));
    }
    if (page_.objects.size() == limit_) {
      page_.next_start_after = page_.objects.back().key;
      return {};
    }
    page_.objects.push_back({std::move(key), static_cast<uint64_t>(status.st_size)});
    return {};
  }

  // Files and folders that this page may have something of. Folders end in '/': then the order of the names is that of
  // the keys ("a-b" comes before "a/c").
  Result<std::vector<std::string>> NamesIn(const std::string& folder) {
    std::vector<std::string> names;
    FileDescriptor fd = OpenAt(root_fd_, folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
    // Folders come and go with their objects.
    if (!fd.valid() && (errno == ENOENT || errno == ENOTDIR) && !folder.empty()) return names;
    if (!fd.valid()) return ReadError(errno, "cannot list", PathOf(folder));
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(fd.get()), closedir);
    if (entries == nullptr) return ReadError(errno, "cannot list", PathOf(folder));
    const int folder_fd = fd.Release();
    errno = 0;
    while (const dirent* entry = readdir(entries.get())) {
      const std::string_view name(entry->d_name);
      // What could not be a key is none of ours: ".", "..", our temporaries, NFS's ".nfs..." of removed open files.
      if (!IsValidKey(name)) continue;
      const Kind kind = KindOf(*entry, folder_fd);
      if (kind == Kind::kFile && IsWanted(folder, name)) names.emplace_back(name);
      if (kind == Kind::kFolder && MayHoldWanted(folder, name)) names.push_back(fmt::format("{}/", name));
      errno = 0;
    }
    if (errno != 0) return ReadError(errno, "cannot list", PathOf(folder));
    std::sort(names.begin(), names.end());
    return names;
  }

  static Kind KindOf(const dirent& entry, int folder_fd) {
    if (entry.d_type == DT_REG) return Kind::kFile;
    if (entry.d_type == DT_DIR) return Kind::kFolder;
    struct stat status;
    if (fstatat(folder_fd, entry.d_name, &status, 0) != 0) return Kind::kOther;
    if (S_ISREG(status.st_mode)) return Kind::kFile;
    return S_ISDIR(status.st_mode) ? Kind::kFolder : Kind::kOther;
  }

  bool IsWanted(const std::string& folder, std::string_view name) const {
    const std::string key = fmt::format("{}{}", folder, name);
    return key.starts_with(prefix_) && key > start_after_;
  }

  bool MayHoldWanted(const std::string& folder, std::string_view name) const {
    const std::string path = fmt::format("{}{}/", folder, name);
    const bool below_prefix = path.starts_with(prefix_) || prefix_.starts_with(path);
    const bool past_start = path > start_after_ || start_after_.starts_with(path);
    return below_prefix && past_start;
  }

  std::string PathOf(std::string_view key) const { return fmt::format("{}/{}", root_, key); }

  const int root_fd_;
  const std::string_view root_;
  const std::string_view prefix_;
  const std::string_view start_after_;
  const size_t limit_;
  ListPage page_;
};

}  // namespace

Result<ListPage> ListDirectory(int root_fd, std::string_view root, std::string_view prefix,
                               std::string_view start_after, size_t limit) {
  return Listing(root_fd, root, prefix, start_after, limit).Run();
}

}  // namespace batchweave
