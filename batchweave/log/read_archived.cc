#include "batchweave/log/read_archived.h"

#include <fmt/format.h>

#include <string>

namespace batchweave {
namespace {

// The bytes of the object that `ref` names.
Result<Bytes> ReadObject(ManifestLog& log, const ArchiveRef& ref) {
  const std::string key = log.keys().Archive(ref);
  Bytes object = BW_TRY(log.env().store.Read(key));
  if (object.size() == ref.object_bytes && HashOf128(object) == ref.hash) return object;
  return Error{ErrorCode::kCorrupt,
               fmt::format("an archived object is not what was written: key={} bytes={} expected={}", key,
                           object.size(), ref.object_bytes)};
}

template <typename Archived>
Result<Archived> ReadChecked(ManifestLog& log, const ArchiveRef& ref, Result<Archived> (*decode)(ByteView)) {
  const Bytes object = BW_TRY(ReadObject(log, ref));
  Result<Archived> archived = decode(object);
  if (!archived.ok()) return WithContext(archived.error(), log.keys().Archive(ref));
  const Result<void> fits = CheckArchived(*archived, log.keys().stream_id, ref);
  if (!fits.ok()) return WithContext(fits.error(), log.keys().Archive(ref));
  return archived;
}

}  // namespace

Result<ArchivedEntries> ReadArchivedEntries(ManifestLog& log, const ArchiveRef& ref) {
  return ReadChecked(log, ref, DecodeArchivedEntries);
}

Result<ArchivedEntries> ReadArchivedSteps(ManifestLog& log, const ArchiveRef& ref, Step first, size_t count) {
  const Bytes object = BW_TRY(ReadObject(log, ref));
  Result<ArchivedEntries> archived = DecodeArchivedSteps(object, log.keys().stream_id, ref, first, count);
  if (!archived.ok()) return WithContext(archived.error(), log.keys().Archive(ref));
  return archived;
}

Result<ArchiveIndex> ReadArchiveIndex(ManifestLog& log, const ArchiveRef& ref) {
  return ReadChecked(log, ref, DecodeArchiveIndex);
}

Result<ArchivedRows> ReadArchivedRows(ManifestLog& log, const ArchiveRef& ref) {
  return ReadChecked(log, ref, DecodeArchivedRows);
}

}  // namespace batchweave
