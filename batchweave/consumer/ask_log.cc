#include "batchweave/consumer/ask_log.h"

#include <fmt/format.h>

#include <utility>

#include "batchweave/format/archive.h"

namespace batchweave {
namespace {

// From the newest version through every level of index to an entry, once more where it moved meanwhile. 64 children an
// index: more levels than this hold more steps than there are.
constexpr int kQuestionsMax = 32;

Result<ArchivedSteps> DecodeSteps(ByteView object, StreamId stream_id, const ArchiveRef& ref) {
  if (object.size() != ref.object_bytes || HashOf128(object) != ref.hash) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("length or checksum mismatch: expected={} {} found={} {}", ref.object_bytes,
                             ToHex(ref.hash), object.size(), ToHex(HashOf128(object)))};
  }
  if (ref.kind == ArchiveRef::Kind::kIndex) {
    ArchiveIndex index = BW_TRY(DecodeArchiveIndex(object));
    BW_TRY(CheckArchived(index, stream_id, ref));
    return ArchivedSteps{.first = ref.first, .entries = {}, .children = std::move(index.children)};
  }
  ArchivedEntries archived = BW_TRY(DecodeArchivedEntries(object));
  BW_TRY(CheckArchived(archived, stream_id, ref));
  return ArchivedSteps{.first = archived.first, .entries = std::move(archived.entries), .children = {}};
}

Result<ArchivedSteps> ReadArchive(ManifestLog& log, const ArchiveRef& ref) {
  const std::string key = log.keys().Archive(ref);
  const Bytes object = BW_TRY(log.env().store.Read(key));
  Result<ArchivedSteps> steps = DecodeSteps(object, log.keys().stream_id, ref);
  if (steps.ok()) return steps;
  return WithContext(std::move(steps).error(), fmt::format("archived object: key={}", key));
}

}  // namespace

Result<LogAnswer> AskLog(ManifestLog& log, const LogQuestion& question) {
  switch (question.kind) {
    case LogQuestion::Kind::kNewest: return BW_TRY(log.ReadNewest());
    case LogQuestion::Kind::kNewestVersion: return BW_TRY(log.FindNewest());
    case LogQuestion::Kind::kHead: return BW_TRY(log.ReadHead(question.version));
    case LogQuestion::Kind::kWhole: return BW_TRY(log.Read(question.version));
    case LogQuestion::Kind::kArchive: break;
  }
  return BW_TRY(ReadArchive(log, question.archive));
}

Result<KnownStep> LookUp(ManifestLog& log, Step step) {
  StepIndex index(step, /*known_steps_max=*/1);
  for (int asked = 0; asked < kQuestionsMax && !index.ended(); ++asked) {
    const LogQuestion question = index.Ask();
    const bool learned = BW_TRY(index.Learn(question, AskLog(log, question)));
    if (std::optional<KnownStep> known = index.Take()) return std::move(*known);
    if (!learned) break;
  }
  return Error{ErrorCode::kNotFound, fmt::format("the step is not committed: step={}", step.value)};
}

}  // namespace batchweave
