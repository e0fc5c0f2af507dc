#include "batchweave/log/read_archived.h"

#include <fmt/format.h>

#include <string>

namespace batchweave {
namespace {

template <typename Archived>
Result<Archived> ReadChecked(ManifestLog& log, const ArchiveRef& ref, Result<Archived> (*decode)(ByteView)) {
  const std::string key = log.keys().Archive(ref);
  const Bytes object = BW_TRY(log.env().store.Read(key));
  if (object.size() != ref.object_bytes || HashOf128(object) != ref.hash) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("an archived object is not what was written: key={} bytes={} expected={}", key,
                             object.size(), ref.object_bytes)};
  }
  Result<Archived> archived = decode(object);
  if (!archived.ok()) return WithContext(archived.error(), key);
  const Result<void> fits = CheckArchived(*archived, log.keys().stream_id, ref);
  if (!fits.ok()) return WithContext(fits.error(), key);
  return archived;
}

}  // namespace

Result<ArchivedEntries> ReadArchivedEntries(ManifestLog& log, const ArchiveRef& ref) {
  return ReadChecked(log, ref, DecodeArchivedEntries);
}

Result<ArchiveIndex> ReadArchiveIndex(ManifestLog& log, const ArchiveRef& ref) {
  return ReadChecked(log, ref, DecodeArchiveIndex);
}

Result<ArchivedRows> ReadArchivedRows(ManifestLog& log, const ArchiveRef& ref) {
  return ReadChecked(log, ref, DecodeArchivedRows);
}

}  // namespace batchweave
