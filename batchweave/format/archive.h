// Archived objects: history that left the manifest, so that a version stays small however long the stream. An
// ArchiveRef names each; docs/format.md has the bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"
#include "batchweave/format/entry.h"
#include "batchweave/format/manifest.h"
#include "batchweave/format/types.h"

namespace batchweave {

// Children of one index object, at most.
inline constexpr size_t kIndexChildrenMax = 64;

// The entries of the steps [first, first + entries.size()), oldest first; at least one.
struct ArchivedEntries {
  StreamId stream_id{};
  Step first{};
  std::vector<Entry> entries{};
  friend bool operator==(const ArchivedEntries&, const ArchivedEntries&) = default;
};

// Refs of entries or of indexes, all of one level, oldest first and contiguous; at least one.
struct ArchiveIndex {
  StreamId stream_id{};
  std::vector<ArchiveRef> children{};
  friend bool operator==(const ArchiveIndex&, const ArchiveIndex&) = default;
};

// The rows of every producer but those that a manifest's own rows replace, ordered by producer. None is kGone.
struct ArchivedRows {
  StreamId stream_id{};
  std::vector<ProducerRow> rows{};
  friend bool operator==(const ArchivedRows&, const ArchivedRows&) = default;
};

// The encoders check that their argument keeps the rules above (a bug where not).
// Errors of the decoders: kCorrupt (says which check failed), kIncompatible (a newer format).
Bytes EncodeArchivedEntries(const ArchivedEntries& archived);
Result<ArchivedEntries> DecodeArchivedEntries(ByteView object);

// Of the object that `ref` names, the entries of `count` steps from `first` on, as far as it has them: its other entries
// are not decoded. Checks what CheckArchived does.
Result<ArchivedEntries> DecodeArchivedSteps(ByteView object, StreamId stream_id, const ArchiveRef& ref, Step first,
                                            size_t count);

Bytes EncodeArchiveIndex(const ArchiveIndex& index);
Result<ArchiveIndex> DecodeArchiveIndex(ByteView object);

Bytes EncodeArchivedRows(const ArchivedRows& archived);
Result<ArchivedRows> DecodeArchivedRows(ByteView object);

// What a decoded object must say where it is the one that `ref` names: the stream, the steps, the level. Whoever reads
// an archived object compares its length and hash with the ref, decodes it, and asks this.
// Errors: kCorrupt (says what differs).
Result<void> CheckArchived(const ArchivedEntries& archived, StreamId stream_id, const ArchiveRef& ref);
Result<void> CheckArchived(const ArchiveIndex& index, StreamId stream_id, const ArchiveRef& ref);
Result<void> CheckArchived(const ArchivedRows& archived, StreamId stream_id, const ArchiveRef& ref);

}  // namespace batchweave
