// The rules that a manifest keeps by itself. Checked twice: before it is encoded, and after it was decoded.
#pragma once

#include "batchweave/base/result.h"
#include "batchweave/format/manifest.h"

namespace batchweave {

// What the head block alone must keep; the entries in `tail` are not checked again (ReadEntry did, EncodeManifest does).
// Errors: kCorrupt (says which rule).
Result<void> CheckHead(const Manifest& manifest);

// Its steps where its tail begins with `tail_first`, and what is archived. Errors: kCorrupt (says which rule).
Result<void> CheckSteps(const Manifest& manifest, Step tail_first);

// CheckHead, and what holds between head and rest. Errors: kCorrupt (says which rule).
Result<void> CheckManifest(const Manifest& manifest);

}  // namespace batchweave
