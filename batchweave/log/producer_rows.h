// Rows of producers, wherever a version keeps them: in itself, or in the archived table that it names.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "batchweave/base/result.h"
#include "batchweave/format/archive.h"
#include "batchweave/format/manifest.h"
#include "batchweave/log/manifest_log.h"

namespace batchweave {

// The row of `producer` among the manifest's own, or null: it may still be in the archived table (see BringRows).
ProducerRow* FindRow(Manifest& manifest, std::string_view producer);
const ProducerRow* FindRow(const Manifest& manifest, std::string_view producer);

// The row of `producer` among the manifest's own, made where there is none.
ProducerRow& FindOrAddRow(Manifest& manifest, std::string_view producer);

// The archived table last read: it never changes, so it need not be read again while versions name it.
// Not safe for concurrent use.
class RowTable {
 public:
  // Errors: as ReadArchivedRows, but kUnavailable for kNotFound: a table that is gone was replaced by a newer one, which
  // the newest version names. It is never taken for a table without the row.
  Result<const ArchivedRows*> Read(ManifestLog& log, const ArchiveRef& ref);

 private:
  std::optional<ArchiveRef> ref_;
  ArchivedRows rows_;
};

// Copies the rows of `producers` that only the archived table has into `manifest`, so that FindRow finds them: from then
// on the manifest's own replace them. Errors: as RowTable::Read.
Result<void> BringRows(ManifestLog& log, RowTable& table, std::span<const std::string> producers, Manifest& manifest);

// Where the source of the producer of `row` stands after its last committed batch; none: nothing was ever committed.
// Errors: as ForEachEntry, with kUnavailable for kNotFound (trimmed meanwhile: the newest version has the cursor in the
// row); kCorrupt (the row's step does not hold its batch).
Result<std::optional<Bytes>> CommittedCursor(ManifestLog& log, const Manifest& manifest, const ProducerRow& row);

}  // namespace batchweave
