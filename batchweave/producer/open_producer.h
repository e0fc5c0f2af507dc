// The opening of a producer: the commit that gives it a new incarnation and fences every earlier holder of its name.
#pragma once

#include <optional>
#include <string_view>

#include "batchweave/base/result.h"
#include "batchweave/log/manifest_log.h"

namespace batchweave {

struct OpenedProducer {
  Incarnation incarnation{};
  uint64_t seq = 0;               // Of the last committed batch; 0: none.
  std::optional<Bytes> cursor{};  // After the last committed batch; none: nothing was ever committed.
};

// Commits a new incarnation of `producer`: alone at once, among many by announcing it to whoever commits next. Nothing may be
// uploaded before this has returned.
// Errors: kInvalidArgument (the name), kSealed, kAlreadyExists (it has finished and `reopen` is not set; nothing was
// committed), kUnavailable (not opened by `deadline`; what was announced may still open it, and fences earlier holders
// then, as the next try does in any case), kUnknownOutcome (the same, of a commit), and those of the log.
Result<OpenedProducer> CommitOpening(ManifestLog& log, std::string_view producer, bool reopen, TimePoint deadline);

}  // namespace batchweave
