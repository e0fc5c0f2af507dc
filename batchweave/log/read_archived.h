// Reading what left the manifest: each archived object is known to be the one that its ref names, or an error.
//
// Errors of all: kNotFound (it is not there: trimmed meanwhile, or lost: the newest version tells), kCorrupt (it is not
// what was written: its key and the check), kIncompatible, kUnavailable, kDenied.
#pragma once

#include "batchweave/base/result.h"
#include "batchweave/format/archive.h"
#include "batchweave/log/manifest_log.h"

namespace batchweave {

Result<ArchivedEntries> ReadArchivedEntries(ManifestLog& log, const ArchiveRef& ref);
// Of `count` steps from `first` on, as far as the object has them.
Result<ArchivedEntries> ReadArchivedSteps(ManifestLog& log, const ArchiveRef& ref, Step first, size_t count);
Result<ArchiveIndex> ReadArchiveIndex(ManifestLog& log, const ArchiveRef& ref);
Result<ArchivedRows> ReadArchivedRows(ManifestLog& log, const ArchiveRef& ref);

}  // namespace batchweave
