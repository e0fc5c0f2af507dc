#include <fmt/format.h>

#include <utility>

#include "batchweave/format/tgb.h"
#include "batchweave/log/deletion.h"
#include "batchweave/log/history.h"
#include "batchweave/stream/describe.h"

namespace batchweave {
namespace {

Result<Bytes> ReadRange(ObjectStore& store, const std::string& key, uint64_t offset, uint64_t size_bytes) {
  Bytes bytes(size_bytes);
  ReadRequest request{.key = key, .offset = offset, .buffer = bytes};
  BW_TRY(store.Get({&request, 1}));
  if (request.received_bytes == size_bytes) return bytes;
  return Error{ErrorCode::kCorrupt, fmt::format("object is cut short: key={} offset={} expected={} found={}", key,
                                                offset, size_bytes, request.received_bytes)};
}

// What is told of a part: by its entry, and by the end of its object.
struct PartTold {
  std::vector<uint64_t> slice_bytes;
  Bytes provenance;
};

// Reads the object's end only where something is told by it alone.
Result<PartTold> ReadTold(Stream& stream, const Entry& entry, const Part& part, const std::string& key) {
  if (!part.slice_bytes.empty() && part.provenance_bytes == 0) return PartTold{part.slice_bytes, {}};
  const uint64_t end_bytes = uint64_t{part.provenance_bytes} + part.footer_bytes;
  Bytes end = BW_TRY(ReadRange(stream.env().store, key, part.object_bytes - end_bytes, end_bytes));
  TgbFooter footer = BW_TRY(DecodeTgbFooter(end));
  BW_TRY(CheckFooterOf(footer, stream.id(), entry, part));
  end.resize(part.provenance_bytes);
  BW_TRY(CheckProvenanceOf(footer, end));
  return PartTold{std::move(footer.slice_bytes), std::move(end)};
}

Result<void> DescribePart(Stream& stream, size_t part_index, StepDescription& description) {
  const Part& part = description.entry.parts[part_index];
  const std::string& key = description.keys[part_index];
  PartTold told = BW_TRY(ReadTold(stream, description.entry, part, key));
  const PartLayout layout = BW_TRY(PartLayout::Make(part.range, std::move(told.slice_bytes)));
  description.provenance.push_back(std::move(told.provenance));
  for (uint32_t cp = part.range.cp_begin; cp < part.range.cp_begin + part.range.cp_count; ++cp) {
    for (uint32_t dp = part.range.dp_begin; dp < part.range.dp_begin + part.range.dp_count; ++dp) {
      const Coordinate at{.dp = dp, .cp = cp};
      description.slices[size_t{cp} * description.entry.grid.dp + dp] = {
          .at = at, .part = part_index, .offset = layout.SliceOffset(at), .size_bytes = layout.SliceBytes(at)};
    }
  }
  return {};
}

}  // namespace

Result<Entry> FindEntry(ManifestLog& log, const Manifest& manifest, Step step) {
  if (step >= manifest.next_step) {
    return Error{ErrorCode::kNotFound,
                 manifest.next_step == Step{0}
                     ? fmt::format("the stream has no steps yet: step={}", step.value)
                     : fmt::format("the step is not committed: step={} newest={}{}", step.value,
                                   manifest.next_step.value - 1, manifest.sealed ? " (the stream is sealed)" : "")};
  }
  if (step < manifest.first_step) {
    return Error{ErrorCode::kTrimmed,
                 fmt::format("the step was trimmed: step={} first={}", step.value, manifest.first_step.value)};
  }
  std::optional<Entry> found;
  BW_TRY(ForEachEntry(log, manifest, {.first = step, .end = step + 1}, [&](Step, const Entry& entry) -> Result<void> {
    found = entry;
    return {};
  }));
  BW_CHECK(found.has_value());
  return std::move(*found);
}

Error ExplainMissing(Stream& stream, Step step, const std::string& key) {
  const Result<LoggedManifest> newest = stream.log().ReadNewest();
  if (!newest.ok()) return newest.error();
  if (step < newest->manifest.first_step) {
    return {ErrorCode::kTrimmed, fmt::format("the step was trimmed meanwhile: step={} first={}", step.value,
                                             newest->manifest.first_step.value)};
  }
  return UnlessDeleted(
      stream.log(),
      {ErrorCode::kCorrupt, fmt::format("an object of the step is missing: step={} key={}", step.value, key)});
}

Result<StepDescription> DescribeStep(Stream& stream, Step step) {
  const LoggedManifest newest = BW_TRY(stream.log().ReadNewest());
  StepDescription description{.step = step,
                              .entry = BW_TRY(FindEntry(stream.log(), newest.manifest, step)),
                              .keys = {},
                              .slices = {},
                              .provenance = {}};
  const Entry& entry = description.entry;
  for (const Part& part : entry.parts) {
    description.keys.push_back(stream.log().keys().Data(entry.producer, entry.incarnation, entry.seq, part.nonce));
  }
  description.slices.resize(entry.grid.slices());
  for (size_t part = 0; part < entry.parts.size(); ++part) {
    const Result<void> described = DescribePart(stream, part, description);
    if (FailedWith(described, ErrorCode::kNotFound)) return ExplainMissing(stream, step, description.keys[part]);
    if (!described.ok()) return WithContext(described.error(), description.keys[part]);
  }
  return description;
}

}  // namespace batchweave
