#include <algorithm>
#include <utility>

#include "batchweave/format/keys.h"
#include "batchweave/stream/describe.h"
#include "batchweave/log/history.h"

namespace batchweave {
namespace {

ProducerDescription* Find(std::vector<ProducerDescription>& producers, std::string_view name) {
  const auto name_of = [](const ProducerDescription& producer) { return std::string_view(producer.row.producer); };
  const auto at = std::ranges::lower_bound(producers, name, {}, name_of);
  return at != producers.end() && at->row.producer == name ? &*at : nullptr;
}

void Count(const Entry& entry, StreamDescription& description) {
  const uint64_t payload_bytes = PayloadBytes(entry);
  description.samples += entry.samples;
  description.payload_bytes += payload_bytes;
  ProducerDescription* producer = Find(description.producers, entry.producer);
  if (producer == nullptr) return;
  producer->batches += 1;
  producer->samples += entry.samples;
  producer->payload_bytes += payload_bytes;
  producer->committed_at_ns = entry.committed_at_ns;
  producer->cursor = entry.cursor;
}

}  // namespace

Result<StreamDescription> DescribeStream(Stream& stream) {
  const Bytes json = BW_TRY(stream.env().store.Read(StreamJsonKey(stream.name())));
  StreamDescription description{.name = stream.name(),
                                .info = BW_TRY(DecodeStreamInfo(json)),
                                .newest = BW_TRY(stream.log().ReadNewest()),
                                .producers = {}};
  const Manifest& manifest = description.newest.manifest;
  std::vector<ProducerRow> rows = BW_TRY(ReadRows(stream.log(), manifest));
  for (ProducerRow& row : rows) {
    std::optional<Bytes> cursor = row.cursor;
    description.producers.push_back({.row = std::move(row), .committed_at_ns = {}, .cursor = std::move(cursor)});
  }
  for (const ArchiveRef& ref : manifest.archives) description.payload_bytes += ref.payload_bytes;
  Step step = manifest.tail_first();
  for (const Entry& entry : manifest.tail) {
    if (step >= manifest.first_step) Count(entry, description);
    step = step + 1;
  }
  return description;
}

}  // namespace batchweave
