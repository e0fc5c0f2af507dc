#include "examples/demo/data/sample_ref.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace batchweave::demo {
namespace fs = std::filesystem;
namespace {

Error ListingError(const fs::path& path, std::error_code cause) {
  const std::string message = fmt::format("cannot list: path={} cause={}", path.string(), cause.message());
  if (cause == std::errc::no_such_file_or_directory) return Error{ErrorCode::kNotFound, message};
  if (cause == std::errc::permission_denied) return Error{ErrorCode::kDenied, message};
  return Error{ErrorCode::kUnavailable, message};
}

}  // namespace

std::string IdOf(const SampleRef& ref) { return fmt::format("{}@{}", ref.path, ref.offset); }

Result<std::vector<SourceFile>> ListFiles(const std::string& root, const std::string& folder, std::string_view suffix) {
  const fs::path start = fs::path(root) / folder;
  std::error_code cause;
  std::vector<SourceFile> files;
  const bool is_file = fs::is_regular_file(start, cause);
  if (is_file) {
    const uint64_t size_bytes = fs::file_size(start, cause);
    if (cause) return ListingError(start, cause);
    return std::vector<SourceFile>{{.path = folder, .size_bytes = size_bytes}};
  }
  fs::recursive_directory_iterator entry(start, cause);
  if (cause) return ListingError(start, cause);
  for (; entry != fs::recursive_directory_iterator(); entry.increment(cause)) {
    if (entry->is_symlink(cause) || !entry->is_regular_file(cause)) continue;
    const std::string path = entry->path().lexically_relative(root).string();
    if (!path.ends_with(suffix)) continue;
    files.push_back({.path = path, .size_bytes = entry->file_size(cause)});
    if (cause) return ListingError(entry->path(), cause);
  }
  if (cause) return ListingError(start, cause);
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

}  // namespace batchweave::demo
