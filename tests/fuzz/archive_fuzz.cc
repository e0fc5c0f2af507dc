// Any bytes are an archived object or an error; and what decodes can be encoded again without a loss. Each input is tried
// as every kind of object, in a frame that fits, since no fuzzer guesses a checksum.
#include <flatbuffers/flatbuffers.h>

#include <cstddef>
#include <cstdint>

#include "batchweave/base/check.h"
#include "batchweave/format/archive.h"
#include "batchweave/format/archive_generated.h"
#include "batchweave/format/object_frame.h"
#include "batchweave/format/verified_root.h"
#include "batchweave/format/wire_hash.h"

namespace batchweave {
namespace {

template <typename Decode, typename Encode>
void Try(ByteView object, Decode decode, Encode encode) {
  const auto archived = decode(object);
  if (!archived.ok()) return;
  const auto again = decode(encode(*archived));
  BW_CHECK(again.ok() && *again == *archived);
}

// Who asks for some of the steps gets those of the whole, though the others were never looked at. It is tried also where
// the whole is none.
void TrySteps(ByteView object) {
  const Result<ByteView> block = DecodeWholeBlock(ObjectKind::kArchivedEntries, object);
  if (!block.ok()) return;
  const AlignedBlock aligned(*block);
  const Result<const wire::ArchivedEntryOffsets*> table =
      VerifiedRoot<wire::ArchivedEntryOffsets>(aligned.view(), "archived entries");
  if (!table.ok() || (*table)->entries() == nullptr) return;
  const Step first{(*table)->first()};
  const ArchiveRef ref{.kind = ArchiveRef::Kind::kEntries, .first = first, .end = first + (*table)->entries()->size()};
  const StreamId stream_id{FromWire(*(*table)->stream_id())};
  const Result<ArchivedEntries> last = DecodeArchivedSteps(object, stream_id, ref, {ref.end.value - 1}, 2);
  const Result<ArchivedEntries> whole = DecodeArchivedEntries(object);
  if (!whole.ok()) return;
  BW_CHECK(last.ok() && last->entries.size() == 1 && last->entries.front() == whole->entries.back());
}

void TryAll(ByteView object) {
  Try(object, DecodeArchivedEntries, EncodeArchivedEntries);
  TrySteps(object);
  Try(object, DecodeArchiveIndex, EncodeArchiveIndex);
  Try(object, DecodeArchivedRows, EncodeArchivedRows);
}

}  // namespace
}  // namespace batchweave

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using batchweave::ObjectKind;
  const batchweave::ByteView object = std::as_bytes(std::span(data, size));
  batchweave::TryAll(object);
  if (size < batchweave::kFrameBytes) return 0;
  for (const ObjectKind kind : {ObjectKind::kArchivedEntries, ObjectKind::kArchiveIndex, ObjectKind::kArchivedRows}) {
    batchweave::TryAll(batchweave::EncodeFramed(kind, object.subspan(batchweave::kFrameBytes)));
  }
  return 0;
}
