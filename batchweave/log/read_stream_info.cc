#include "batchweave/log/read_stream_info.h"

#include <fmt/format.h>

#include <utility>

#include "batchweave/format/keys.h"

namespace batchweave {
namespace {

// So often is read what comes damaged.
constexpr int kReadsMax = 4;

}  // namespace

Result<StoredStreamInfo> ReadStreamInfo(ObjectStore& store, std::string_view name) {
  for (int attempt = 1;; ++attempt) {
    Result<Bytes> json = store.Read(StreamJsonKey(name));
    if (FailedWith(json, ErrorCode::kNotFound)) {
      return Error{ErrorCode::kNotFound, fmt::format("no such stream: name={}", name)};
    }
    if (!json.ok()) return json.error();
    const Result<StreamInfo> info = DecodeStreamInfo(*json);
    if (info.ok()) return StoredStreamInfo{.info = *info, .json = *std::move(json)};
    if (info.error().code != ErrorCode::kCorrupt || attempt == kReadsMax) return info.error();
  }
}

}  // namespace batchweave
