// From slices to the bytes of their object and what names it. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/format/entry.h"
#include "batchweave/format/part_message.h"
#include "batchweave/format/tgb.h"
#include "batchweave/producer/global_batch.h"
#include "batchweave/producer/producer.h"

namespace batchweave {

// The object of a batch or of a part of it, ready to be put. One packing has one nonce, and so one key, for ever: a put
// that is repeated repeats these bytes. Move-only.
struct PackedObject {
  Bytes scaffold;                // Trailers, padding and footer; `pieces` points into it.
  std::vector<ByteView> pieces;  // The object, in order: slices and provenance (still their owners' memory), scaffold.

  PackedObject() = default;
  PackedObject(PackedObject&&) = default;
  PackedObject& operator=(PackedObject&&) = default;
};

struct PackedBatch {
  Entry entry;  // committed_at_ns is the committer's to fill in.
  PackedObject object;
};

// What a part is packed from.
struct PartContent {
  GridRange range{};          // Of the ticket's grid.
  const GlobalBatch& slices;  // A grid of the range's size, with places relative to its first one. Complete.
  ByteView provenance{};      // At most kProvenanceBytesMax.
};

struct PackedPart {
  Part part;
  std::vector<uint64_t> trailers;  // In layout order of the range.
  PackedObject object;
};

// What `content` refers to must outlive the result. Slices that are not hashed yet are hashed here.
PackedPart PackPart(const PartTicket& ticket, const PartContent& content, uint64_t nonce);

// All of a batch as one part. `batch` must be complete, and outlive the result together with `options`.
PackedBatch PackBatch(const TgbIdentity& identity, const GlobalBatch& batch, const PublishOptions& options,
                      uint64_t nonce);

// The entry of a batch whose parts lie under `ticket`'s seq; lengths that are too long for it are left to the footers.
Entry EntryOf(const PartTicket& ticket, std::vector<Part> parts, Hash128 digest, const PublishOptions& options);

}  // namespace batchweave
