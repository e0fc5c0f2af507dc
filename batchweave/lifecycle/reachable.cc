#include "batchweave/lifecycle/reachable.h"

#include <algorithm>

#include "batchweave/base/mutation.h"
#include "batchweave/log/read_archived.h"

namespace batchweave {
namespace {

class Walk {
 public:
  Walk(ManifestLog& log, Step first, Step end, const VisitReached& visit)
      : log_(log), first_(first), end_(end), visit_(visit) {}

  // Each of these four names every field, so that one that is added does not compile before somebody has looked here.
  Result<void> Manifest(const batchweave::Manifest& manifest) {
    const auto& [stream_id, version, commit_id, previous_hash, reader_features, writer_features, first_step, next_step,
                 sealed, deleted, groups, tail, archives, checkpoints, quarantines, rows, archived_rows] = manifest;
    BW_TRY(Refs(archives));
    BW_TRY(Entries(tail, manifest.tail_first()));
    if (!archived_rows) return {};
    return visit_(
        {.key = log_.keys().Archive(*archived_rows), .size_bytes = archived_rows->object_bytes, .end = kNothingHeld});
  }

 private:
  Result<void> Ref(const ArchiveRef& ref) {
    const auto& [kind, version, nonce, first, end, object_bytes, hash, level, payload_bytes] = ref;
    if (end <= first_ || first >= end_) return {};
    BW_TRY(visit_({.key = log_.keys().Archive(ref), .size_bytes = object_bytes, .end = end}));
    if (kind == ArchiveRef::Kind::kIndex) {
      const ArchiveIndex index = BW_TRY(ReadArchiveIndex(log_, ref));
      return Refs(index.children);
    }
    const ArchivedEntries archived = BW_TRY(ReadArchivedEntries(log_, ref));
    return Entries(archived.entries, first);
  }

  Result<void> Entry(const batchweave::Entry& entry, Step step) {
    const auto& [producer, incarnation, seq, grid, parts, digest, content_type, schema_hash, samples, cursor,
                 committed_at_ns, metadata] = entry;
    for (const Part& part : parts) {
      const auto& [nonce, range, slice_bytes, object_bytes, footer_bytes, provenance_bytes] = part;
      BW_TRY(visit_(
          {.key = log_.keys().Data(producer, incarnation, seq, nonce), .size_bytes = object_bytes, .end = step + 1}));
      if (BW_MUTATION(kReclaimReachesOnePart)) break;
    }
    return {};
  }

  // Indexes nest as deep as their levels, which the codec bounds to 255 and a stream of 10^9 steps brings to 4.
  Result<void> Refs(const std::vector<ArchiveRef>& refs) {
    for (const ArchiveRef& ref : refs) BW_TRY(Ref(ref));
    return {};
  }

  Result<void> Entries(const std::vector<batchweave::Entry>& entries, Step step) {
    for (const batchweave::Entry& entry : entries) {
      if (step >= first_ && step < end_) BW_TRY(Entry(entry, step));
      step = step + 1;
    }
    return {};
  }

  ManifestLog& log_;
  const Step first_;
  const Step end_;
  const VisitReached& visit_;
};

}  // namespace

Result<void> WalkReachable(ManifestLog& log, const Manifest& manifest, Step end, const VisitReached& visit) {
  return Walk(log, manifest.first_step, end, visit).Manifest(manifest);
}

Result<ReachedKeys> ReachedKeys::Of(ManifestLog& log, const Manifest& manifest) {
  ReachedKeys reached;
  BW_TRY(WalkReachable(log, manifest, manifest.next_step, [&](const ReachedObject& object) -> Result<void> {
    reached.hashes_.push_back(Hash64(AsBytes(object.key)));
    reached.bytes_ += object.size_bytes;
    return {};
  }));
  std::ranges::sort(reached.hashes_);
  return reached;
}

bool ReachedKeys::Contains(std::string_view key) const {
  return std::ranges::binary_search(hashes_, Hash64(AsBytes(key)));
}

}  // namespace batchweave
