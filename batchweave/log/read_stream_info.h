// Reads stream.json: who a stream is.
#pragma once

#include <string_view>

#include "batchweave/base/result.h"
#include "batchweave/format/stream_info.h"
#include "batchweave/store/object_store.h"

namespace batchweave {

struct StoredStreamInfo {
  StreamInfo info{};
  Bytes json{};  // As it lies there: its hash begins the chain.
};

// Errors: kNotFound (no such stream), kCorrupt (read again before it is believed, fault F3), kIncompatible, kUnavailable,
// kDenied.
Result<StoredStreamInfo> ReadStreamInfo(ObjectStore& store, std::string_view name);

}  // namespace batchweave
