// The two blocks of a manifest, each a FlatBuffer (manifest.fbs): bytes without frame, checksums and chain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"
#include "batchweave/format/manifest.h"
#include "batchweave/format/verified_root.h"

namespace batchweave {

// Entries go into the head, newest first, as long as they take no more than about this; one goes in always. With the
// groups beside them the head then nearly always fits kHeadReadBytes.
inline constexpr size_t kHeadEntriesBytes = size_t{8} << 10;

// How many of the newest entries of `manifest` go into its head; those before them go into its rest.
size_t EntriesInHead(const Manifest& manifest);

// What errors call the second block.
inline constexpr std::string_view kRestOfManifest = "rest of the manifest";

struct RestSummary {
  uint64_t size_bytes = 0;
  uint64_t hash = 0;  // Hash64 of the block.
};

Bytes EncodeHeadBlock(const Manifest& manifest, const RestSummary& rest);
Bytes EncodeRestBlock(const Manifest& manifest);

// What the head says: `rest_offset` and `hash` are left for the caller. `block` has the right checksum.
// Errors: kCorrupt, kIncompatible (an unknown reader feature).
Result<ManifestHead> DecodeHeadBlock(ByteView block);

// Whether `rest` is the whole of the rest that `head` names. Errors: kCorrupt.
Result<void> CheckRestBlock(const ManifestHead& head, ByteView rest);

// Adds to `manifest` what the rest says of archived objects. `table` is wire::Rest or wire::RestOffsets, verified.
// Errors: kCorrupt.
template <typename Rest>
Result<void> ReadArchives(const Rest& table, CopyBudget& budget, Manifest& manifest);

// Adds to `manifest`, which holds what the head says, what the rest says. `block` has the right checksum.
// Errors: kCorrupt.
Result<void> DecodeRestBlock(ByteView block, Manifest& manifest);

}  // namespace batchweave
