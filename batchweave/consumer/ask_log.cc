#include "batchweave/consumer/ask_log.h"

#include <fmt/format.h>

#include <utility>

#include "batchweave/log/read_archived.h"

namespace batchweave {
namespace {

// From the newest version through every level of index to an entry, once more where it moved meanwhile. 64 children an
// index: more levels than this hold more steps than there are.
constexpr int kQuestionsMax = 32;

Result<ArchivedSteps> ReadArchive(ManifestLog& log, const LogQuestion& question) {
  const ArchiveRef& ref = question.archive;
  if (ref.kind == ArchiveRef::Kind::kIndex) {
    ArchiveIndex index = BW_TRY(ReadArchiveIndex(log, ref));
    return ArchivedSteps{.first = ref.first, .entries = {}, .children = std::move(index.children)};
  }
  ArchivedEntries archived = BW_TRY(ReadArchivedSteps(log, ref, question.first, question.count));
  return ArchivedSteps{.first = archived.first, .entries = std::move(archived.entries), .children = {}};
}

}  // namespace

Result<LogAnswer> AskLog(ManifestLog& log, const LogQuestion& question) {
  switch (question.kind) {
    case LogQuestion::Kind::kNewest: return BW_TRY(log.ReadNewestSteps(question.first, question.count));
    case LogQuestion::Kind::kNewestVersion: return BW_TRY(log.FindNewest());
    case LogQuestion::Kind::kHead: return BW_TRY(log.PollHead(question.version));
    case LogQuestion::Kind::kWhole: return BW_TRY(log.ReadSteps(question.version, question.first, question.count));
    case LogQuestion::Kind::kArchive: break;
  }
  return BW_TRY(ReadArchive(log, question));
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
