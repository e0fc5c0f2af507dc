// What a handle tells of a stream that was deleted under it.
//
// Whoever slept through the deletion may go on with the stream: its commit finds the slot empty, and wins. What others
// then read are versions without their data and beside those that they know: nothing but stream.json tells that from
// damage, and a reader's endless wait from a slow producer.
#pragma once

#include <mutex>

#include "batchweave/base/clock.h"
#include "batchweave/base/result.h"
#include "batchweave/log/manifest_log.h"

namespace batchweave {

// Between two looks for waits that ended in vain, and after the last thing that came to its end.
inline constexpr Duration kDeletionLookInterval = std::chrono::seconds(10);

// For who is about to tell `error` to a user: kNotFound where the stream was deleted, else `error`. One request where the
// deletion can be what is behind it (kCorrupt, kStalled, kUnavailable, kFenced, kNotFound), none for any other.
Error UnlessDeleted(ManifestLog& log, Error error);

// The same for all that one handle tells. Many calls with a near deadline end in kStalled while all is well: so that is
// looked into only where nothing has succeeded for kDeletionLookInterval, and once an interval. Safe for concurrent use.
class DeletionWatch {
 public:
  // `log` must outlive the watch.
  explicit DeletionWatch(ManifestLog& log);

  template <typename T>
  Result<T> Tell(Result<T> result) {
    if (result.ok()) {
      OnSuccess();
      return result;
    }
    return Explain(std::move(result).error());
  }

 private:
  void OnSuccess();
  Error Explain(Error error);

  ManifestLog& log_;
  std::mutex mutex_;
  TimePoint next_look_;
};

}  // namespace batchweave
