#include "batchweave/log/history.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "batchweave/log/read_archived.h"

namespace batchweave {
namespace {

uint64_t ObjectBytes(const Entry& entry) {
  uint64_t bytes = 0;
  for (const Part& part : entry.parts) bytes += part.object_bytes;
  return bytes;
}

uint64_t Share(const ArchiveRef& ref, Step first, Step end) {
  const Step from = std::max(first, ref.first);
  const Step to = std::min(end, ref.end);
  if (from >= to) return 0;
  const double share =
      static_cast<double>(to.value - from.value) / static_cast<double>(ref.end.value - ref.first.value);
  return share < 1 ? static_cast<uint64_t>(static_cast<double>(ref.payload_bytes) * share) : ref.payload_bytes;
}

class HistoryWalk {
 public:
  HistoryWalk(ManifestLog& log, StepRange range, const VisitEntry& visit) : log_(log), range_(range), visit_(visit) {}

  // Recursion ends: a child of an index is on a lower level than the index (CheckArchived).
  Result<void> VisitRef(const ArchiveRef& ref) {
    if (ref.end <= range_.first || ref.first >= range_.end) return {};
    if (ref.kind == ArchiveRef::Kind::kEntries) {
      return VisitEntries(ref.first, BW_TRY(ReadArchivedEntries(log_, ref)).entries);
    }
    const ArchiveIndex index = BW_TRY(ReadArchiveIndex(log_, ref));
    for (const ArchiveRef& child : index.children) BW_TRY(VisitRef(child));
    return {};
  }

  Result<void> VisitEntries(Step first, const std::vector<Entry>& entries) {
    const Step begin = std::max(first, range_.first);
    const Step end = std::min(first + entries.size(), range_.end);
    for (Step step = begin; step < end; step = step + 1) BW_TRY(visit_(step, entries[step.value - first.value]));
    return {};
  }

 private:
  ManifestLog& log_;
  const StepRange range_;
  const VisitEntry& visit_;
};

}  // namespace

Result<void> ForEachEntry(ManifestLog& log, const Manifest& manifest, StepRange range, const VisitEntry& visit) {
  range.first = std::max(range.first, manifest.first_step);
  HistoryWalk walk(log, range, visit);
  for (const ArchiveRef& ref : manifest.archives) BW_TRY(walk.VisitRef(ref));
  return walk.VisitEntries(manifest.tail_first(), manifest.tail);
}

uint64_t DataBytes(const Manifest& manifest, Step first, Step end) {
  first = std::max(first, manifest.first_step);
  end = std::min(end, manifest.next_step);
  uint64_t bytes = 0;
  for (const ArchiveRef& ref : manifest.archives) bytes += Share(ref, first, end);
  const Step tail_first = manifest.tail_first();
  for (Step step = std::max(first, tail_first); step < end; step = step + 1) {
    bytes += ObjectBytes(manifest.tail[step.value - tail_first.value]);
  }
  return bytes;
}

Result<std::vector<ProducerRow>> ReadRows(ManifestLog& log, const Manifest& manifest) {
  std::vector<ProducerRow> rows;
  if (manifest.archived_rows) rows = BW_TRY(ReadArchivedRows(log, *manifest.archived_rows)).rows;
  const auto replaced = [&](const ProducerRow& row) {
    return std::ranges::binary_search(manifest.rows, row.producer, {}, &ProducerRow::producer);
  };
  std::erase_if(rows, replaced);
  std::ranges::copy(manifest.rows, std::back_inserter(rows));
  std::ranges::sort(rows, {}, &ProducerRow::producer);
  std::erase_if(rows, [](const ProducerRow& row) { return row.state == ProducerRow::State::kGone; });
  return rows;
}

}  // namespace batchweave
