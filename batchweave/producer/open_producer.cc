#include "batchweave/producer/open_producer.h"

#include <fmt/format.h>

#include <string>

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
  const auto open = [&](Manifest& next) -> Result<bool> {
    if (next.sealed) {
      return Error{ErrorCode::kSealed,
                   fmt::format("the stream has ended: name={} steps={}", log.keys().name, next.next_step.value)};
    }
    BW_TRY(BringRows(log, table, {&name, 1}, next));
    ProducerRow& row = FindOrAddRow(next, producer);
    if (row.state != ProducerRow::State::kOpen && !reopen)
      return Finished(row, BW_TRY(CommittedCursor(log, next, row)));
    row.incarnation = {next.version.value};
    row.opening_nonce = nonce;
    row.state = ProducerRow::State::kOpen;
    return true;
  };
  const LoggedManifest committed = BW_TRY(CommitChange(log, deadline, open));
  Manifest opened = committed.manifest;
  BW_TRY(BringRows(log, table, {&name, 1}, opened));
  const ProducerRow* row = FindRow(opened, producer);
  BW_CHECK(row != nullptr && row->opening_nonce == nonce);
  return OpenedProducer{
      .incarnation = row->incarnation, .seq = row->seq, .cursor = BW_TRY(CommittedCursor(log, opened, *row))};
}

}  // namespace batchweave
