// Progress hints: how far a group has read, for producers that wait for it (back-pressure) and for people.
//
// A hint is never trusted (fault E1): it may be missing, stale, garbage or from the future, and costs then only speed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "batchweave/log/manifest_log.h"

namespace batchweave {

// The bytes of a hint: "step 812\n". Errors of the decoder: kCorrupt.
Bytes EncodeProgress(Step reached);
Result<Step> DecodeProgress(ByteView object);

// The smallest position that any group holds. None where there is no group: then nothing is trimmed.
std::optional<Step> Watermark(const Manifest& manifest);

// What a hint is worth: itself between watermark and next_step; the watermark where it is missing or lies outside. Where
// there is no group: none, since nobody is waited for.
std::optional<Step> TrustedProgress(const Manifest& manifest, std::optional<Step> hint);

// How far `group` has read, by its hint and TrustedProgress. A hint that cannot be read is a missing one: no errors.
std::optional<Step> ReadProgress(ManifestLog& log, const Manifest& manifest, std::string_view group);

// How far the slowest group has read: a producer may be this much ahead of it. None where there is no group.
std::optional<Step> ReadSlowestProgress(ManifestLog& log, const Manifest& manifest);

// Hints are for waits of seconds, so more of them would only cost requests.
inline constexpr Duration kProgressInterval = std::chrono::seconds(5);

// Writes the hint of one group, for the one rank that tells. Not safe for concurrent use.
class ProgressReporter {
 public:
  // `log` must outlive the reporter.
  ProgressReporter(ManifestLog& log, std::string_view group);

  // The ranks' next step is `reached`. Within kProgressInterval of the last hint only what is new is written, and only where
  // the job has read all that the stream had then: it may not come back before producers that wait for it were told.
  // Errors: kDenied, once; after that nothing more is written. Any other failure is no error: a later call writes.
  Result<void> Report(Step reached);

 private:
  void LookForEnd();

  ManifestLog& log_;
  const std::string key_;
  bool denied_ = false;
  std::optional<Step> told_;
  TimePoint next_at_ = TimePoint::min();
  Step end_{};  // Of the stream, at the last hint: never beyond what it is now.
};

}  // namespace batchweave
