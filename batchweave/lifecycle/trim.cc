#include "batchweave/lifecycle/trim.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "batchweave/base/mutation.h"
#include "batchweave/log/change.h"
#include "batchweave/log/history.h"
#include "batchweave/log/producer_rows.h"

namespace batchweave {
namespace {

// Rows of the archived table lose the entry that has their cursor like any other: they come back into the manifest.
Result<void> BringRowsWithoutCursor(ManifestLog& log, Manifest& next, Step watermark) {
  if (!next.archived_rows) return {};
  RowTable table;
  const ArchivedRows& archived = *BW_TRY(table.Read(log, *next.archived_rows));
  const size_t own_rows = next.rows.size();
  for (const ProducerRow& row : archived.rows) {
    if (row.cursor || !row.step || *row.step >= watermark) continue;
    const auto own_end = next.rows.begin() + static_cast<std::ptrdiff_t>(own_rows);
    const bool replaced =
        std::ranges::binary_search(next.rows.begin(), own_end, row.producer, {}, &ProducerRow::producer);
    if (!replaced) next.rows.push_back(row);
  }
  std::ranges::sort(next.rows, {}, &ProducerRow::producer);
  return {};
}

Result<void> KeepCursors(ManifestLog& log, Manifest& next, Step watermark) {
  BW_TRY(BringRowsWithoutCursor(log, next, watermark));
  std::map<Step, ProducerRow*> rows;
  for (ProducerRow& row : next.rows) {
    if (!row.cursor && row.step && *row.step < watermark) rows.emplace(*row.step, &row);
  }
  if (rows.empty()) return {};
  const auto keep = [&](Step step, const Entry& entry) -> Result<void> {
    const auto row = rows.find(step);
    if (row == rows.end() || row->second->producer != entry.producer || row->second->seq != entry.seq) return {};
    row->second->cursor = entry.cursor;
    rows.erase(row);
    return {};
  };
  const Result<void> walked = ForEachEntry(log, next, {.first = rows.begin()->first, .end = watermark}, keep);
  if (FailedWith(walked, ErrorCode::kNotFound)) {
    return Error{ErrorCode::kUnavailable, "history that was to be trimmed is gone already: " + walked.error().message};
  }
  BW_TRY(walked);
  if (rows.empty()) return {};
  return Error{ErrorCode::kCorrupt, fmt::format("a producer's last step does not hold its batch: producer={} step={}",
                                                rows.begin()->second->producer, rows.begin()->first.value)};
}

void DropEntriesBelow(Manifest& next, Step watermark) {
  const Step tail_first = next.tail_first();
  if (watermark > tail_first) {
    size_t dropped = watermark.value - tail_first.value;
    if (BW_MUTATION(kTrimDropsOneMore)) dropped = std::min(dropped + 1, next.tail.size());
    next.tail.erase(next.tail.begin(), next.tail.begin() + static_cast<ptrdiff_t>(dropped));
  }
  std::erase_if(next.archives, [&](const ArchiveRef& ref) { return ref.end <= watermark; });
}

}  // namespace

Result<bool> ApplyTrim(ManifestLog& log, Manifest& next) {
  const std::optional<Step> watermark = Watermark(next);
  if (!watermark || *watermark <= next.first_step) return false;
  BW_CHECK(*watermark <= next.next_step);
  if (!BW_MUTATION(kTrimForgetsCursors)) BW_TRY(KeepCursors(log, next, *watermark));
  DropEntriesBelow(next, *watermark);
  std::erase_if(next.quarantines, [&](const Quarantine& quarantine) {
    return quarantine.end <= *watermark || BW_MUTATION(kTrimLiftsQuarantines);
  });
  next.first_step = *watermark;
  return true;
}

Result<LoggedManifest> Trim(ManifestLog& log, TimePoint deadline) {
  return CommitChange(log, deadline, [&](Manifest& next) { return ApplyTrim(log, next); });
}

}  // namespace batchweave
