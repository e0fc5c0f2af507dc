// Checks every invariant of docs/protocol.md that can be checked from outside, on what lies in the store.
//
// Reads only, and works beside living producers and trainers: what is committed while it runs may or may not be
// checked, and is never reported as damage.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/stream/stream.h"

namespace batchweave {

struct Finding {
  enum class Kind {
    kBroken,  // An invariant does not hold.
    kNotice,  // Nothing is broken; a person may want to know.
  };
  Kind kind = Kind::kBroken;
  std::string invariant{};  // "I4"; empty for a notice.
  std::string message{};    // What is wrong, with the step where there is one: as in Error.
  std::string key{};        // The object; empty where it is about more than one.
  std::optional<Step> step{};
  friend bool operator==(const Finding&, const Finding&) = default;
};

struct VerifyProgress {
  std::string_view phase;  // "objects", "versions", then "entries" or, deep, "data".
  uint64_t done = 0;       // Of data in bytes, else in things; a phase begins at 0.
  uint64_t total = 0;      // 0: not known.
};

struct VerifyOptions {
  // Read all data: each slice against its trailer, footers and digests against entries, and each version whole.
  bool deep = false;
  std::function<void(const VerifyProgress&)> on_progress{};
};

// Beyond this many findings only their number is kept: one lost folder is told by a few of them.
inline constexpr size_t kFindingsMax = 1000;

struct VerifyReport {
  bool deep = false;
  Version newest{};
  Step first_step{};
  Step next_step{};
  bool sealed = false;
  uint64_t versions = 0;    // Whose link of the chain was checked, tombstones included.
  uint64_t tombstones = 0;  // Versions that were retired.
  uint64_t entries = 0;
  uint64_t producers = 0;
  uint64_t data_objects = 0;  // Of the entries.
  uint64_t data_bytes = 0;
  uint64_t slices_read = 0;  // Deep: that were compared with their trailers.
  uint64_t bytes_read = 0;   // Deep: of data objects.
  // Data that no entry names: uploaded and not committed, or left by a producer that was fenced.
  uint64_t unnamed_objects = 0;
  uint64_t unnamed_bytes = 0;
  std::vector<Finding> findings{};
  uint64_t findings_left_out = 0;
  uint64_t broken = 0;  // Findings that are no notices, those left out too.

  bool ok() const { return broken == 0; }
  void Add(Finding finding);
};

// A broken stream is a report, not an error. Errors: kUnavailable, kDenied (the check could not be made),
// kIncompatible (written by newer software: use that).
Result<VerifyReport> VerifyStream(Stream& stream, const VerifyOptions& options);

}  // namespace batchweave
