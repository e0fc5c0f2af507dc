#include "batchweave/stream/node_cache_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

namespace batchweave {
namespace {

constexpr std::string_view kDir = "node_cache_dir";
constexpr std::string_view kBytes = "node_cache_bytes";

struct Found {
  std::optional<std::string> dir;
  std::optional<std::string> bytes;

  // False where the option is another's.
  bool Take(std::string_view name, std::string_view value) {
    if (name != kDir && name != kBytes) return false;
    (name == kDir ? dir : bytes) = std::string(value);
    return true;
  }
};

// "%2F" and "+" of a query.
std::string Decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(std::min(i + 1, text.size()), 2);
    unsigned byte = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    const bool is_code = text[i] == '%' && digits.size() == 2 && parsed.ptr == digits.data() + digits.size();
    if (is_code) i += 2;
    decoded += is_code ? static_cast<char>(byte) : text[i] == '+' ? ' ' : text[i];
  }
  return decoded;
}

// Takes ours out of the query.
std::string WithoutOurs(std::string_view url, Found& found, std::string& endpoint) {
  const size_t query = url.find('?');
  std::string kept(url.substr(0, query));
  char separator = '?';
  std::string_view rest = query == std::string_view::npos ? std::string_view() : url.substr(query + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    const size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view name = pair.substr(0, equals);
    const std::string value = Decoded(pair.substr(std::min(equals + 1, pair.size())));
    if (found.Take(name, value)) continue;
    if (name == "endpoint") endpoint = value;
    kept += separator;
    kept += pair;
    separator = '&';
  }
  return kept;
}

std::string IdentityOf(std::string_view url, const std::string& endpoint) {
  if (IsCloudUrl(url)) return fmt::format("{} {}", url.substr(0, url.find('?')), endpoint);
  constexpr std::string_view kFile = "file://";
  const std::string path(url.starts_with(kFile) ? url.substr(kFile.size()) : url);
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::weakly_canonical(path, error);
  return error ? path : absolute.string();
}

}  // namespace

Result<SplitNodeCache> SplitNodeCacheOptions(std::string_view url, const StorageOptions& options) {
  Found found;
  std::string endpoint;
  // The path of a directory may hold a '?'.
  SplitNodeCache split{.url = IsCloudUrl(url) ? WithoutOurs(url, found, endpoint) : std::string(url)};
  for (const auto& [name, value] : options) {
    if (found.Take(name, value)) continue;
    if (name == "endpoint") endpoint = value;
    split.storage_options.emplace_back(name, value);
  }
  split.identity = IdentityOf(split.url, endpoint);
  if (found.bytes && !found.dir) {
    return Error{ErrorCode::kInvalidArgument, "node_cache_bytes without node_cache_dir: say where"};
  }
  split.node_cache.dir = found.dir.value_or("");
  if (!found.bytes) return split;
  const char* const end = found.bytes->data() + found.bytes->size();
  const auto [parsed, error] = std::from_chars(found.bytes->data(), end, split.node_cache.bytes_max);
  if (error != std::errc() || parsed != end) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("node_cache_bytes is a number of bytes: found={}", *found.bytes)};
  }
  return split;
}

}  // namespace batchweave
