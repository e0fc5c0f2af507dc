#include "batchweave/format/verified_root.h"

#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>

#include "batchweave/base/check.h"
#include "batchweave/format/archive_generated.h"
#include "batchweave/format/intent_generated.h"
#include "batchweave/format/manifest_generated.h"
#include "batchweave/format/parts_generated.h"
#include "batchweave/format/tgb_generated.h"

namespace batchweave {
namespace {

constexpr flatbuffers::uoffset_t kDepthMax = 8;  // Our schemas nest three deep.

const uint8_t* DataOf(ByteView block) { return reinterpret_cast<const uint8_t*>(block.data()); }

flatbuffers::Verifier VerifierOf(ByteView block) {
  return {DataOf(block), block.size(), kDepthMax, static_cast<flatbuffers::uoffset_t>(block.size() / kBytesATableMin)};
}

Error Malformed(std::string_view what) { return {ErrorCode::kCorrupt, fmt::format("{} is malformed", what)}; }

}  // namespace

template <typename Table>
Result<const Table*> VerifiedRoot(ByteView block, std::string_view what) {
  if (!VerifierOf(block).VerifyBuffer<Table>(nullptr)) return Malformed(what);
  return flatbuffers::GetRoot<Table>(DataOf(block));
}

template <typename Table>
Result<const Table*> VerifiedElement(ByteView block, const flatbuffers::Vector<uint32_t>& offsets, uint32_t i,
                                     std::string_view what) {
  BW_CHECK(i < offsets.size());
  flatbuffers::Verifier verifier = VerifierOf(block);
  const size_t at = static_cast<size_t>(offsets.Data() - DataOf(block)) + i * sizeof(flatbuffers::uoffset_t);
  const flatbuffers::uoffset_t offset = verifier.VerifyOffset(at);
  if (offset == 0) return Malformed(what);
  const auto* table = reinterpret_cast<const Table*>(DataOf(block) + at + offset);
  if (!table->Verify(verifier)) return Malformed(what);
  return table;
}

template Result<const wire::Head*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::Rest*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::RestOffsets*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::Tombstone*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::ArchivedEntryOffsets*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::ArchiveIndex*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::ArchivedRows*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::TgbIndex*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::PartTicket*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::PartReceipt*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::BatchIntent*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::OpeningIntent*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::Entry*> VerifiedElement(ByteView, const flatbuffers::Vector<uint32_t>&, uint32_t,
                                                    std::string_view);
template Result<const wire::ProducerRow*> VerifiedElement(ByteView, const flatbuffers::Vector<uint32_t>&, uint32_t,
                                                          std::string_view);

}  // namespace batchweave
