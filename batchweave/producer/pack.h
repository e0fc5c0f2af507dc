// From a global batch to the bytes of its object and the entry that names it. Pure.
#pragma once

#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/format/entry.h"
#include "batchweave/format/tgb.h"
#include "batchweave/producer/global_batch.h"
#include "batchweave/producer/producer.h"

namespace batchweave {

// One packing has one nonce, and so one key, for ever: a put that is repeated repeats these bytes. Move-only.
struct PackedBatch {
  Entry entry;                   // committed_at_ns is the committer's to fill in.
  Bytes scaffold;                // Trailers, padding and footer; `pieces` points into it.
  std::vector<ByteView> pieces;  // The object, in order: slices (still the batch's own memory) and scaffold.

  PackedBatch() = default;
  PackedBatch(PackedBatch&&) = default;
  PackedBatch& operator=(PackedBatch&&) = default;
};

// `batch` must be complete and outlive the result. Slices that are not hashed yet are hashed here.
PackedBatch PackBatch(const TgbIdentity& identity, const GlobalBatch& batch, const PublishOptions& options,
                      uint64_t nonce);

}  // namespace batchweave
