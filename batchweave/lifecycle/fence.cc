#include "batchweave/lifecycle/fence.h"

#include <fmt/format.h>

#include <string>

#include "batchweave/log/change.h"
#include "batchweave/log/producer_rows.h"

namespace batchweave {

Result<LoggedManifest> FenceProducer(ManifestLog& log, std::string_view producer, TimePoint deadline) {
  const std::string name(producer);
  const uint64_t nobodys_nonce = log.env().random.Next();
  RowTable table;
  return CommitChange(log, deadline, [&](Manifest& next) -> Result<bool> {
    BW_TRY(BringRows(log, table, {&name, 1}, next));
    ProducerRow* row = FindRow(next, name);
    if (row == nullptr || row->state == ProducerRow::State::kGone) {
      return Error{ErrorCode::kNotFound, fmt::format("no such producer: producer={}", name)};
    }
    if (next.sealed || row->state != ProducerRow::State::kOpen) return false;
    row->incarnation = {next.version.value};
    row->opening_nonce = nobodys_nonce;
    return true;
  });
}

}  // namespace batchweave
