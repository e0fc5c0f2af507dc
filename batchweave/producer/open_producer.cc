#include "batchweave/producer/open_producer.h"

#include <fmt/format.h>

#include <algorithm>

#include "batchweave/format/keys.h"
#include "batchweave/log/change.h"
#include "batchweave/producer/commit_plan.h"

namespace batchweave {
namespace {

ProducerRow& RowFor(Manifest& manifest, std::string_view producer) {
  if (ProducerRow* row = FindRow(manifest, producer)) return *row;
  const auto at = std::ranges::lower_bound(manifest.rows, producer, {}, &ProducerRow::producer);
  return *manifest.rows.insert(at, ProducerRow{.producer = std::string(producer)});
}

Error Finished(const ProducerRow& row, const std::optional<Bytes>& cursor) {
  return {ErrorCode::kAlreadyExists,
          fmt::format("the producer has finished; to go on with it, reopen it: producer={} batches={} cursor={}",
                      row.producer, row.seq, cursor ? ToHex(*cursor) : "none")};
}

}  // namespace

Result<OpenedProducer> CommitOpening(ManifestLog& log, std::string_view producer, bool reopen, TimePoint deadline) {
  BW_TRY(CheckName("producer", producer));
  const uint64_t nonce = log.env().random.Next();
  const auto open = [&](Manifest& next) -> Result<bool> {
    if (next.sealed) {
      return Error{ErrorCode::kSealed, fmt::format("the stream has ended: name={} steps={}", log.keys().name,
                                                   next.next_step.value)};
    }
    ProducerRow& row = RowFor(next, producer);
    if (row.state != ProducerRow::State::kOpen && !reopen) return Finished(row, BW_TRY(CommittedCursor(next, row)));
    row.incarnation = {next.version.value};
    row.opening_nonce = nonce;
    row.state = ProducerRow::State::kOpen;
    return true;
  };
  const LoggedManifest committed = BW_TRY(CommitChange(log, deadline, open));
  const ProducerRow* row = FindRow(committed.manifest, producer);
  BW_CHECK(row != nullptr && row->opening_nonce == nonce);
  return OpenedProducer{.incarnation = row->incarnation,
                        .seq = row->seq,
                        .cursor = BW_TRY(CommittedCursor(committed.manifest, *row))};
}

Result<std::optional<Bytes>> CommittedCursor(const Manifest& manifest, const ProducerRow& row) {
  if (row.cursor) return row.cursor;
  if (!row.step) return std::optional<Bytes>();
  const Step first = manifest.tail_first();
  if (*row.step >= first && *row.step < manifest.next_step) {
    const Entry& entry = manifest.tail[row.step->value - first.value];
    if (entry.producer == row.producer && entry.seq == row.seq) return std::optional(entry.cursor);
  }
  return Error{ErrorCode::kCorrupt, fmt::format("a producer's last step does not hold its batch: producer={} seq={} step={}",
                                                row.producer, row.seq, row.step->value)};
}

}  // namespace batchweave
