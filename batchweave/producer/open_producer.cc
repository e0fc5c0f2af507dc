#include "batchweave/producer/open_producer.h"

#include <fmt/format.h>

#include <string>

#include "batchweave/base/fault_point.h"
#include "batchweave/base/mutation.h"
#include "batchweave/format/keys.h"
#include "batchweave/log/change.h"
#include "batchweave/log/producer_rows.h"

namespace batchweave {
namespace {

Error Finished(const ProducerRow& row, const std::optional<Bytes>& cursor) {
  return {ErrorCode::kAlreadyExists,
          fmt::format("the producer has finished; to go on with it, reopen it: producer={} batches={} cursor={}",
                      row.producer, row.seq, cursor ? ToHex(*cursor) : "none")};
}

}  // namespace

Result<OpenedProducer> CommitOpening(ManifestLog& log, std::string_view producer, bool reopen, TimePoint deadline) {
  BW_TRY(CheckName("producer", producer));
  const std::string name(producer);
  const uint64_t nonce = log.env().random.Next();
  RowTable table;
  OpenedProducer opened;  // Of the last try: the one that is committed.
  const auto open = [&](Manifest& next) -> Result<bool> {
    if (next.sealed) {
      return Error{ErrorCode::kSealed,
                   fmt::format("the stream has ended: name={} steps={}", log.keys().name, next.next_step.value)};
    }
    BW_TRY(BringRows(log, table, {&name, 1}, next));
    ProducerRow& row = FindOrAddRow(next, producer);
    std::optional<Bytes> cursor = BW_TRY(CommittedCursor(log, next, row));
    if (row.state != ProducerRow::State::kOpen && !reopen) return Finished(row, cursor);
    if (BW_MUTATION(kSeqBeginsAnew)) row = {.producer = name};
    const bool keeps = BW_MUTATION(kOpeningDoesNotFence) && row.incarnation != Incarnation{};
    if (!keeps) row.incarnation = {BW_MUTATION(kIncarnationOfTheRow) ? row.incarnation.value + 1 : next.version.value};
    row.opening_nonce = nonce;
    row.state = ProducerRow::State::kOpen;
    opened = {.incarnation = row.incarnation, .seq = row.seq, .cursor = std::move(cursor)};
    BW_FAULT_POINT("opening.made");
    return true;
  };
  BW_TRY(CommitChange(log, deadline, open));
  BW_FAULT_POINT("opening.committed");
  return opened;
}

}  // namespace batchweave
