// What a producer reads of a version that it does not build on, to know what became of its batches. Of a version that names
// thousands of batches and producers it costs a small part of decoding it all.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/format/manifest.h"

namespace batchweave {

struct ManifestGlimpse {
  // What the head says but for entries, which are none, and groups; the rows that were asked for, where they are the version's own; and
  // archived_rows.
  Manifest manifest{};
  // The producers of the newest entries, oldest first, one an entry, at most kGlimpsedEntriesMax.
  std::vector<std::string> recent{};
};

// More than the committers that one log can carry alone.
inline constexpr size_t kGlimpsedEntriesMax = 256;

// Errors: as DecodeManifest, as far as what is not looked at leaves them to be found.
Result<ManifestGlimpse> GlimpseManifest(ByteView object, std::span<const std::string> producers);

// The same from a manifest that is decoded.
std::vector<std::string> RecentProducers(const Manifest& manifest);

}  // namespace batchweave
