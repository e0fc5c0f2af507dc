// Deletes a whole stream, for ever: its name is not used again, since stream.json stays, marked.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "batchweave/base/result.h"
#include "batchweave/store/env.h"

namespace batchweave {

struct DeleteReport {
  uint64_t objects = 0;                  // Removed by this run.
  uint64_t not_understood = 0;           // Keys that are not ours, left alone.
  std::optional<Error> uploads_error{};  // Why uploads in parts were left; all else is done.
};

// First commits a last version, "deleted", which nothing follows: open handles answer kNotFound from then on. Then marks
// stream.json. Then aborts uploads in parts that were never completed, and removes the rest. May be stopped at any point;
// run again, it goes on where it was, also where the stream was deleted long ago. `progress` (may be empty) is told after
// each batch.
// A committer that slept through it all may still be told that it won: its batch is of a stream that is no more.
// Errors: kNotFound (there never was such a stream), kIncompatible (it is of newer software), kDenied, kCorrupt,
// kInvalidArgument (the name), kUnavailable and kUnknownOutcome: run it again. What fails of uploads alone is in the report.
Result<DeleteReport> DeleteStream(Env env, std::string_view name, TimePoint deadline,
                                  const std::function<void(const DeleteReport&)>& progress = {});

}  // namespace batchweave
