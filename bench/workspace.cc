#include "bench/workspace.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace batchweave::bench {
namespace {

Error CannotMake(std::string_view path, const std::error_code& code) {
  return {ErrorCode::kDenied, fmt::format("cannot make a folder: {}: path={}", code.message(), path)};
}

}  // namespace

Result<Workspace> Workspace::Make(const std::string& parent) {
  std::error_code code;
  const std::filesystem::path folder = parent.empty() ? std::filesystem::temp_directory_path(code) : parent.c_str();
  std::string path = (folder / "bw_bench-XXXXXX").string();
  if (!code && mkdtemp(path.data()) == nullptr) code.assign(errno, std::generic_category());
  if (code) return CannotMake(path, code);
  return Workspace(std::move(path));
}

Workspace::Workspace(std::string path) : path_(std::move(path)) {}

Workspace::Workspace(Workspace&& other) noexcept : path_(std::exchange(other.path_, {})) {}

Workspace::~Workspace() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<std::string> Workspace::Fresh(std::string_view name) const {
  Remove(name);
  std::string path = fmt::format("{}/{}", path_, name);
  std::error_code code;
  std::filesystem::create_directory(path, code);
  if (code) return CannotMake(path, code);
  return path;
}

void Workspace::Remove(std::string_view name) const {
  std::error_code ignored;
  std::filesystem::remove_all(fmt::format("{}/{}", path_, name), ignored);
}

}  // namespace batchweave::bench
