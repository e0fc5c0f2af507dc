// What a version reaches: every object that a reader of it may ask for. The only judge of what reclaim must keep.
//
// One function walks; a kind of reference that it does not know is a live object deleted (fault D3). So reachable.cc
// names every field of the structs that may refer to objects, and reachable_test.cc every field of the schemas.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "batchweave/log/manifest_log.h"

namespace batchweave {

// An object that a version reaches.
struct ReachedObject {
  std::string key{};
  uint64_t size_bytes = 0;
  Step end{};  // One past the last step that needs it. The table of rows: kNothingHeld, since no step does.
};

using VisitReached = std::function<Result<void>(const ReachedObject&)>;

// Visits every object that steps [first_step, end) of `manifest` need, and the table of rows: data objects, archived
// entries, index objects above them. What lies wholly below first_step below an index that does not is not reached.
// Reads index objects and archived entries on its way, nothing else. `visit` may stop the walk with an error.
// Errors: those of `visit` and of read_archived.h: kNotFound where an archived object is gone, as of a version that is not the
// newest any more.
Result<void> WalkReachable(ManifestLog& log, const Manifest& manifest, Step end, const VisitReached& visit);

// All that a version reaches, as a set. 8 bytes a key: what it is asked of is a hash, so that with a chance of one in
// 10^13 or less it takes a strange key for its own, and reclaim leaves a dead object; never the reverse.
class ReachedKeys {
 public:
  // Errors: as WalkReachable.
  static Result<ReachedKeys> Of(ManifestLog& log, const Manifest& manifest);

  bool Contains(std::string_view key) const;
  uint64_t objects() const { return hashes_.size(); }
  uint64_t bytes() const { return bytes_; }

 private:
  std::vector<uint64_t> hashes_;  // Ordered.
  uint64_t bytes_ = 0;
};

}  // namespace batchweave
