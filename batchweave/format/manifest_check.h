// The rules that a manifest keeps by itself. Checked twice: before it is encoded, and after it was decoded.
#pragma once

#include "batchweave/base/result.h"
#include "batchweave/format/manifest.h"

namespace batchweave {

// What the head block alone must keep; the entries in `tail` are not checked again (ReadEntry did, EncodeManifest does).
// Errors: kCorrupt (says which rule).
Result<void> CheckHead(const Manifest& manifest);

// CheckHead, and what holds between head and rest. Errors: kCorrupt (says which rule).
Result<void> CheckManifest(const Manifest& manifest);

}  // namespace batchweave
