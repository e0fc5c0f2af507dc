#include "batchweave/log/producer_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "batchweave/log/history.h"
#include "batchweave/log/read_archived.h"

namespace batchweave {

ProducerRow* FindRow(Manifest& manifest, std::string_view producer) {
  return const_cast<ProducerRow*>(FindRow(std::as_const(manifest), producer));
}

const ProducerRow* FindRow(const Manifest& manifest, std::string_view producer) {
  const auto row = std::ranges::lower_bound(manifest.rows, producer, {}, &ProducerRow::producer);
  return row != manifest.rows.end() && row->producer == producer ? &*row : nullptr;
}

ProducerRow& FindOrAddRow(Manifest& manifest, std::string_view producer) {
  if (ProducerRow* row = FindRow(manifest, producer)) return *row;
  const auto at = std::ranges::lower_bound(manifest.rows, producer, {}, &ProducerRow::producer);
  return *manifest.rows.insert(at, ProducerRow{.producer = std::string(producer)});
}

Result<const ArchivedRows*> RowTable::Read(ManifestLog& log, const ArchiveRef& ref) {
  if (ref_ == ref) return &rows_;
  Result<ArchivedRows> read = ReadArchivedRows(log, ref);
  if (FailedWith(read, ErrorCode::kNotFound)) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("the table of producers was replaced meanwhile: {}", read.error().message)};
  }
  rows_ = BW_TRY(std::move(read));
  ref_ = ref;
  return &rows_;
}

Result<void> BringRows(ManifestLog& log, RowTable& table, std::span<const std::string> producers, Manifest& manifest) {
  if (!manifest.archived_rows) return {};
  for (const std::string& producer : producers) {
    if (FindRow(manifest, producer) != nullptr) continue;
    const ArchivedRows* archived = BW_TRY(table.Read(log, *manifest.archived_rows));
    const auto row = std::ranges::lower_bound(archived->rows, producer, {}, &ProducerRow::producer);
    if (row != archived->rows.end() && row->producer == producer) FindOrAddRow(manifest, producer) = *row;
  }
  return {};
}

Result<std::optional<Bytes>> CommittedCursor(ManifestLog& log, const Manifest& manifest, const ProducerRow& row) {
  if (row.cursor || !row.step) return row.cursor;
  std::optional<Bytes> cursor;
  const auto visit = [&](Step, const Entry& entry) -> Result<void> {
    if (entry.producer == row.producer && entry.seq == row.seq) cursor = entry.cursor;
    return {};
  };
  const Result<void> walked = ForEachEntry(log, manifest, {.first = *row.step, .end = *row.step + 1}, visit);
  if (FailedWith(walked, ErrorCode::kNotFound)) return Error{ErrorCode::kUnavailable, walked.error().message};
  BW_TRY(walked);
  if (cursor) return cursor;
  return Error{ErrorCode::kCorrupt,
               fmt::format("a producer's last step does not hold its batch: producer={} seq={} step={}", row.producer,
                           row.seq, row.step->value)};
}

}  // namespace batchweave
