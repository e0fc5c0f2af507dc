// Checks the slices of one read against their trailers, hashing each piece while it is still in the processor's cache.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/base/hash.h"
#include "batchweave/consumer/read_plan.h"
#include "batchweave/format/tgb.h"
#include "batchweave/store/object_store.h"

namespace batchweave {

// For one read; not safe for concurrent use. Which bytes are slices and which are trailers or padding is told by the
// plan, wherever the pieces that a store reports begin and end.
class SliceVerifier final : public ReadObserver {
 public:
  // `slices` are those of the read, in the order of their offsets, the first at the read's own offset; must outlive
  // the verifier.
  SliceVerifier(const TgbIdentity& identity, std::span<const PlannedSlice> slices);

  void OnBytes(ByteView piece) override;
  void OnRestart() override;

  struct Mismatch {
    Coordinate at;
    uint64_t expected = 0;  // Of the content that was received.
    uint64_t found = 0;     // The trailer that was received.
  };

  // Call once, with the whole read as it was received. The first slice whose content is not what its trailer says, or
  // that belongs to another place or batch.
  std::optional<Mismatch> Check(ByteView received);

 private:
  const TgbIdentity& identity_;
  const std::span<const PlannedSlice> slices_;
  uint64_t position_ = 0;         // In the read: how much was seen.
  std::vector<uint64_t> hashes_;  // Of the slices that were seen to their end.
  Hasher64 hasher_;               // Of the slice that is being seen.
};

}  // namespace batchweave
