#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>

#include "batchweave/format/manifest.h"
#include "batchweave/format/manifest_generated.h"
#include "batchweave/format/object_frame.h"
#include "batchweave/format/verified_root.h"
#include "batchweave/format/wire_hash.h"

namespace batchweave {
Bytes EncodeTombstone(const Tombstone& tombstone) {
  BW_CHECK(tombstone.version != Version{});
  flatbuffers::FlatBufferBuilder builder;
  const wire::Hash128 commit_id = ToWire(tombstone.commit_id.bits);
  const wire::Hash128 hash = ToWire(tombstone.hash);
  const wire::Hash128 previous_hash = ToWire(tombstone.previous_hash);
  builder.Finish(wire::CreateTombstone(builder, tombstone.version.value, &commit_id, &hash, &previous_hash));
  return EncodeFramed(ObjectKind::kTombstone, std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize())));
}

Result<Tombstone> DecodeTombstone(ByteView object) {
  const ObjectFrame frame = BW_TRY(DecodeFrame(object));
  if (frame.kind != ObjectKind::kTombstone) {
    return Error{ErrorCode::kNotFound, fmt::format("not a tombstone but a {}", ObjectKindName(frame.kind))};
  }
  const AlignedBlock block(BW_TRY(DecodeWholeBlock(ObjectKind::kTombstone, object)));
  const wire::Tombstone& table = *BW_TRY(VerifiedRoot<wire::Tombstone>(block.view(), "tombstone"));
  if (table.version() == 0) return Error{ErrorCode::kCorrupt, "tombstone has no version"};
  return Tombstone{.version = {table.version()},
                   .commit_id = {FromWire(*table.commit_id())},
                   .hash = FromWire(*table.hash()),
                   .previous_hash = FromWire(*table.previous_hash())};
}

}  // namespace batchweave
