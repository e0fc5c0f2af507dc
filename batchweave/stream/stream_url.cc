#include "batchweave/stream/stream_url.h"

#include <fmt/format.h>

#include <algorithm>

#include "batchweave/format/keys.h"

namespace batchweave {
namespace {

bool IsPath(std::string_view url) { return url.starts_with("file://") || url.find("://") == std::string_view::npos; }

}  // namespace

Result<StreamUrl> SplitStreamUrl(std::string_view url) {
  if (url.starts_with("memory:")) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("a stream in memory is seen only by the process that made it: url={}", url)};
  }
  // "s3://bucket/runs/llm-7b?region=eu-west-1": the query belongs to the folder. The path of a directory may hold a '?'.
  const size_t query_begin = IsPath(url) ? url.size() : std::min(url.find('?'), url.size());
  const std::string_view query = url.substr(query_begin);
  std::string_view trimmed = url.substr(0, query_begin);
  while (trimmed.size() > 1 && trimmed.ends_with('/') && !trimmed.ends_with("//")) trimmed.remove_suffix(1);
  const size_t host = IsPath(url) ? 0 : url.find("://") + 3;
  if (host > 0 && trimmed.find('/', host) == std::string_view::npos) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("the URL names no stream: use SCHEME://BUCKET/FOLDER/STREAM: url={}", ShownUrl(url))};
  }
  const size_t slash = trimmed.rfind('/');
  StreamUrl split{.folder = ".", .name = std::string(trimmed)};
  if (slash != std::string_view::npos) {
    split.name = trimmed.substr(slash + 1);
    // The slash stays where it is all of the path: "/llm-7b", "file:///llm-7b".
    const bool is_root = slash == 0 || trimmed.substr(0, slash).ends_with("//");
    split.folder = trimmed.substr(0, is_root ? slash + 1 : slash);
    split.folder += query;
  }
  const Result<void> named = CheckName("stream", split.name);
  if (!named.ok())
    return WithContext(named.error(), fmt::format("the URL does not end in a stream's name: url={}", ShownUrl(url)));
  return split;
}

std::string ShownUrl(std::string_view url) {
  if (IsPath(url)) return std::string(url);
  const size_t scheme = url.find("://");
  url = url.substr(0, url.find('?'));
  const size_t user_end = url.rfind('@');
  if (user_end == std::string_view::npos) return std::string(url);
  return fmt::format("{}://{}", url.substr(0, scheme), url.substr(user_end + 1));
}

}  // namespace batchweave
