#include "batchweave/format/verified_root.h"

#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>

#include "batchweave/format/archive_generated.h"
#include "batchweave/format/intent_generated.h"
#include "batchweave/format/manifest_generated.h"
#include "batchweave/format/parts_generated.h"
#include "batchweave/format/tgb_generated.h"

namespace batchweave {
namespace {

constexpr flatbuffers::uoffset_t kDepthMax = 8;        // Our schemas nest three deep.
constexpr flatbuffers::uoffset_t kBytesATableMin = 8;  // Its own first word, and the one that points at it.

}  // namespace

template <typename Table>
Result<const Table*> VerifiedRoot(ByteView block, std::string_view what) {
  const auto* data = reinterpret_cast<const uint8_t*>(block.data());
  flatbuffers::Verifier verifier(data, block.size(), kDepthMax,
                                 static_cast<flatbuffers::uoffset_t>(block.size() / kBytesATableMin));
  if (!verifier.VerifyBuffer<Table>(nullptr)) {
    return Error{ErrorCode::kCorrupt, fmt::format("{} is malformed", what)};
  }
  return flatbuffers::GetRoot<Table>(data);
}

template Result<const wire::Head*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::Rest*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::Tombstone*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::ArchivedEntries*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::ArchiveIndex*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::ArchivedRows*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::TgbIndex*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::PartTicket*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::PartReceipt*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::BatchIntent*> VerifiedRoot(ByteView, std::string_view);
template Result<const wire::OpeningIntent*> VerifiedRoot(ByteView, std::string_view);

}  // namespace batchweave
