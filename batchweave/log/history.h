// Everything that a manifest tells of steps and producers, from itself and from the archived objects that it names.
#pragma once

#include <functional>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/log/manifest_log.h"

namespace batchweave {

// Steps [first, end).
struct StepRange {
  Step first;
  Step end;
  friend bool operator==(const StepRange&, const StepRange&) = default;
};

// May stop the walk with an error, which is returned. The entry lives as long as the call.
using VisitEntry = std::function<Result<void>(Step, const Entry&)>;

// The entries of the steps in `range` that are not trimmed, in order; reads only the archived objects that hold them.
// Errors: those of `visit`; kNotFound (an archived object is not there: trimmed meanwhile, or lost), kCorrupt (one is
// damaged: its key and check), kIncompatible, kUnavailable, kDenied.
Result<void> ForEachEntry(ManifestLog& log, const Manifest& manifest, StepRange range, const VisitEntry& visit);

// Bytes of the data objects of the steps [first, end) that are not trimmed: exact for the tail; of archived history as its
// refs sum it up, where a ref that lies only partly in the range counts by its share of the steps. Pure.
uint64_t DataBytes(const Manifest& manifest, Step first, Step end);

// The rows of all producers, ordered by name: those of the manifest before those of the archived table.
// Errors: as ForEachEntry.
Result<std::vector<ProducerRow>> ReadRows(ManifestLog& log, const Manifest& manifest);

}  // namespace batchweave
