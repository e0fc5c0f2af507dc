// What a version says of uploads and announcements that it does not name: whether a later one may still take them. What is
// dead stays dead (docs/protocol.md, Reclaim).
#pragma once

#include "batchweave/format/keys.h"
#include "batchweave/format/manifest.h"

namespace batchweave {

// Where a producer's opening is announced and this many versions have passed, no committer may take it any more.
inline constexpr uint64_t kOpeningVersionsMax = 1000;

// `row` is that of the key's producer, wherever the version keeps it; null where it has none.
// Of a data object or an intent of batches, which `manifest` does not name:
bool IsBatchDead(const Manifest& manifest, const ProducerRow* row, Incarnation incarnation, uint64_t seq);
// Of an announced opening that was drawn on the version `base`:
bool IsOpeningDead(const Manifest& manifest, const ProducerRow* row, Version base);

// Of an intent, by its key.
bool IsIntentDead(const Manifest& manifest, const ProducerRow* row, const ParsedKey& key);

}  // namespace batchweave
