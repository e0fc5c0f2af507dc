#include <algorithm>
#include <utility>

#include "batchweave/log/history.h"
#include "batchweave/log/producer_rows.h"
#include "batchweave/log/read_stream_info.h"
#include "batchweave/stream/describe.h"

namespace batchweave {
namespace {

std::optional<int64_t> CommittedAt(const Manifest& manifest, const ProducerRow& row) {
  if (!row.step || *row.step < manifest.tail_first()) return std::nullopt;
  return manifest.tail[row.step->value - manifest.tail_first().value].committed_at_ns;
}

void CountSteps(StreamDescription& description) {
  const Manifest& manifest = description.newest.manifest;
  uint64_t samples = 0;
  for (const ArchiveRef& ref : manifest.archives) description.payload_bytes += ref.payload_bytes;
  for (Step step = std::max(manifest.first_step, manifest.tail_first()); step < manifest.next_step; step = step + 1) {
    const Entry& entry = manifest.tail[step.value - manifest.tail_first().value];
    description.payload_bytes += PayloadBytes(entry);
    samples += entry.samples;
  }
  if (manifest.archives.empty()) description.samples = samples;
}

}  // namespace

Result<StreamDescription> DescribeStream(Stream& stream) {
  ManifestLog& log = stream.log();
  const StoredStreamInfo stored = BW_TRY(ReadStreamInfo(stream.env().store, stream.name()));
  StreamDescription description{
      .name = stream.name(), .info = stored.info, .newest = BW_TRY(log.ReadNewest()), .samples = {}, .producers = {}};
  CountSteps(description);
  const Manifest& manifest = description.newest.manifest;
  std::vector<ProducerRow> rows = BW_TRY(ReadRows(log, manifest));
  for (ProducerRow& row : rows) {
    std::optional<Bytes> cursor = BW_TRY(CommittedCursor(log, manifest, row));
    const std::optional<int64_t> committed_at_ns = CommittedAt(manifest, row);
    description.producers.push_back(
        {.row = std::move(row), .cursor = std::move(cursor), .committed_at_ns = committed_at_ns});
  }
  return description;
}

}  // namespace batchweave
