// What a reader takes from a version: which steps there are, and where those that it wants are told. Of a version that
// names thousands of batches and producers it costs a small part of decoding it all.
#pragma once

#include <cstddef>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/format/manifest.h"

namespace batchweave {

struct ManifestSteps {
  Manifest manifest{};  // What the head says, with the newest entries alone as its tail; and `archives`.
  Hash128 hash{};       // Of the version: the link of the chain.
  Step first{};         // Of `entries`.
  // Of those that were wanted, the ones that the version itself tells: contiguous, none where it tells of none.
  std::vector<Entry> entries{};
};

// The entries of `count` steps from `first` on are wanted.
// Errors: as DecodeManifest, as far as what is not looked at leaves them to be found.
Result<ManifestSteps> DecodeManifestSteps(ByteView object, Step first, size_t count);

// The same from a manifest that is decoded; all its entries.
ManifestSteps StepsOf(Manifest manifest, Hash128 hash);

}  // namespace batchweave
