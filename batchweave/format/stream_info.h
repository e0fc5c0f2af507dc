// stream.json: created once, it gives a stream its identity; the only thing ever written over it is "deleted".
#pragma once

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"
#include "batchweave/format/types.h"

namespace batchweave {

// The format of everything below a stream, as one number: a new one is a new software.
inline constexpr uint32_t kFormatVersion = 1;

struct StreamInfo {
  uint32_t format_version = kFormatVersion;
  StreamId stream_id{};
  bool deleted = false;
  int64_t created_at_ns = 0;  // Wall clock, nanoseconds since 1970: for people only.
  friend bool operator==(const StreamInfo&, const StreamInfo&) = default;
};

// Indented JSON with a final newline: people read it. Keys that a later version adds are kept out of the way of older
// readers by format_version alone.
Bytes EncodeStreamInfo(const StreamInfo& info);

// Errors: kCorrupt, kIncompatible (a newer format version).
Result<StreamInfo> DecodeStreamInfo(ByteView json);

}  // namespace batchweave
