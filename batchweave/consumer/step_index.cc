#include "batchweave/consumer/step_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/base/mutation.h"

namespace batchweave {
namespace {

// A whole manifest is as long as about eight heads: from this distance on it is cheaper to read than the heads between,
// and it tells of all of them. After so many heads in a row it is worth one request to know the distance.
constexpr uint64_t kFarVersions = 8;
// The question is not repeated more often than after so many heads, however often the answer was "near".
constexpr uint64_t kHeadsMaxCeiling = 256;

// The first answer is waited for: it need tell no more than a prefetch takes. What it leaves out costs one request more.
constexpr size_t kFewSteps = 64;

template <typename T>
T* Holds(LogAnswer& answer) {
  return std::get_if<T>(&answer);
}

}  // namespace

StepIndex::StepIndex(Step wanted, size_t known_steps_max)
    : wanted_(wanted), known_steps_max_(known_steps_max), heads_max_(kFarVersions) {
  BW_CHECK(known_steps_max >= 1);
}

std::optional<KnownStep> StepIndex::Take() {
  if (known_.empty()) return std::nullopt;
  asks_few_ = false;
  KnownStep taken = std::move(known_.front());
  known_.pop_front();
  wanted_ = wanted_ + 1;
  return taken;
}

bool StepIndex::ended() const { return newest_.sealed && wanted_ >= newest_.next_step; }

LogQuestion StepIndex::Ask() const {
  using Kind = LogQuestion::Kind;
  BW_CHECK(!ended());
  LogQuestion question{.kind = Kind::kNewest,
                       .version = {},
                       .archive = {},
                       .first = wanted_,
                       .count = asks_few_ ? std::min(kFewSteps, known_steps_max_) : known_steps_max_};
  if (refresh_) return question;
  if (jump_) {
    question.kind = Kind::kWhole;
    question.version = *jump_;
    return question;
  }
  if (WantedIsCommitted()) {
    const auto holds = [&](const ArchiveRef& ref) { return ref.first <= wanted_ && wanted_ < ref.end; };
    const auto ref = std::ranges::find_if(archives_, holds);
    question.kind = ref == archives_.end() ? Kind::kWhole : Kind::kArchive;
    question.version = newest_.version;
    if (ref != archives_.end()) question.archive = *ref;
    return question;
  }
  question.kind = heads_in_a_row_ >= heads_max_ ? Kind::kNewestVersion : Kind::kHead;
  question.version = Next(newest_.version);
  return question;
}

Result<bool> StepIndex::Learn(const LogQuestion& question, Result<LogAnswer> answer) {
  if (!answer.ok()) return LearnFailure(question, std::move(answer).error());
  LogAnswer& told = answer.value();
  Result<void> learned = [&]() -> Result<void> {
    if (auto* whole = Holds<ManifestSteps>(told)) return LearnWhole(std::move(*whole));
    if (auto* head = Holds<ManifestHead>(told)) return LearnHead(std::move(*head));
    if (auto* newest = Holds<Version>(told)) return LearnNewestVersion(*newest);
    return LearnArchive(question.archive, std::get<ArchivedSteps>(std::move(told)));
  }();
  if (learned.ok() && known_.empty() && wanted_ < newest_.first_step) {
    learned = Error{ErrorCode::kTrimmed, fmt::format("step {} is trimmed: the stream begins at step {}", wanted_.value,
                                                     newest_.first_step.value)};
  }
  if (learned.ok()) return true;
  refresh_ = true;
  return std::move(learned).error();
}

Result<bool> StepIndex::LearnFailure(const LogQuestion& question, Error error) {
  using Kind = LogQuestion::Kind;
  if (question.kind == Kind::kHead && error.code == ErrorCode::kNotFound) {
    heads_in_a_row_ = 0;
    heads_max_ = kFarVersions;
    return false;
  }
  // A tombstone: what this reader knows is long past.
  const bool retired =
      error.code == ErrorCode::kTrimmed && (question.kind == Kind::kHead || question.kind == Kind::kWhole);
  if (retired) {
    refresh_ = true;
    return true;
  }
  if (question.kind == Kind::kArchive && error.code == ErrorCode::kNotFound) {
    refresh_ = true;
    const bool named_again = missing_ == question.archive;
    missing_ = question.archive;
    if (!named_again) return true;
    missing_.reset();
    return Error{ErrorCode::kCorrupt,
                 fmt::format("an archived object is missing, though the newest manifest names it: {}", error.message)};
  }
  if (error.code == ErrorCode::kCorrupt) refresh_ = true;
  return error;
}

Result<void> StepIndex::LearnVersion(const Manifest& manifest, Hash128 hash) {
  if (manifest.deleted) return Error{ErrorCode::kNotFound, "the stream was deleted"};
  if (manifest.version < newest_.version || manifest.next_step < newest_.next_step) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("the newest manifest is older than one seen before: version={} seen={}",
                             manifest.version.value, newest_.version.value)};
  }
  // Holds I2 of docs/protocol.md against a store or a person that puts another history under the reader.
  if (!refresh_ && manifest.version == Next(newest_.version) && manifest.previous_hash != newest_.hash) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("the chain of manifests is broken: version={} expected={} found={}",
                             manifest.version.value, ToHex(newest_.hash), ToHex(manifest.previous_hash))};
  }
  newest_.version = manifest.version;
  newest_.hash = hash;
  newest_.first_step = manifest.first_step;
  newest_.next_step = manifest.next_step;
  newest_.sealed = manifest.sealed;
  if (!manifest.tail.empty()) {
    newest_.producer = manifest.tail.back().producer;
    newest_.committed_at_ns = manifest.tail.back().committed_at_ns;
  }
  return {};
}

Result<void> StepIndex::LearnWhole(ManifestSteps whole) {
  BW_TRY(LearnVersion(whole.manifest, whole.hash));
  refresh_ = false;
  jump_.reset();
  heads_in_a_row_ = 0;
  archives_ = std::move(whole.manifest.archives);
  std::erase_if(archives_, [&](const ArchiveRef& ref) { return ref.end <= wanted_; });
  AddEntries(whole.first, std::move(whole.entries));
  const bool somewhere = !known_.empty() || (!archives_.empty() && archives_.front().first <= wanted_);
  if (WantedIsCommitted() && !somewhere) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("a manifest does not tell of a step that it counts: version={} step={}",
                             newest_.version.value, wanted_.value)};
  }
  return {};
}

Result<void> StepIndex::LearnHead(ManifestHead head) {
  BW_TRY(LearnVersion(head.manifest, head.hash));
  ++heads_in_a_row_;
  const Step tail_first = head.manifest.tail_first();
  AddEntries(tail_first, std::move(head.manifest.tail));
  return {};
}

Result<void> StepIndex::LearnNewestVersion(Version newest) {
  if (newest.value >= newest_.version.value + kFarVersions) {
    jump_ = newest;
    return {};
  }
  heads_in_a_row_ = 0;
  heads_max_ = std::min(heads_max_ * 2, kHeadsMaxCeiling);
  return {};
}

Result<void> StepIndex::LearnArchive(const ArchiveRef& ref, ArchivedSteps steps) {
  const auto at = std::ranges::find(archives_, ref);
  BW_CHECK(at != archives_.end());
  missing_.reset();
  if (ref.kind == ArchiveRef::Kind::kIndex) {
    const auto fits = [&](const ArchiveRef& child) {
      return child.level < ref.level && child.kind != ArchiveRef::Kind::kRows;
    };
    if (!std::ranges::all_of(steps.children, fits)) {
      return Error{ErrorCode::kCorrupt,
                   fmt::format("an archive index names what does not belong below it: level={}", ref.level)};
    }
    std::erase_if(steps.children, [&](const ArchiveRef& child) { return child.end <= wanted_; });
    const auto after = archives_.erase(archives_.begin(), at + 1);  // With those before it, which are passed.
    archives_.insert(after, steps.children.begin(), steps.children.end());
    if (!steps.children.empty() && steps.children.front().first <= wanted_) return {};
  } else {
    AddEntries(steps.first, std::move(steps.entries));
    if (!known_.empty()) return {};
  }
  return Error{
      ErrorCode::kCorrupt,
      fmt::format("an archived object does not tell of a step that its manifest counts there: step={}", wanted_.value)};
}

void StepIndex::AddEntries(Step first, std::vector<Entry> entries) {
  for (size_t i = 0; i < entries.size() && known_.size() < known_steps_max_; ++i) {
    const Step step = wanted_ + known_.size();
    const bool is_later = BW_MUTATION(kTailTakenAsNext) && first + i > step;
    if (first + i != step && !is_later) continue;
    // Shared: see KnownStep.
    known_.push_back(
        {.step = step, .entry = std::make_shared<const Entry>(std::move(entries[i])), .version_hash = newest_.hash});
  }
}

}  // namespace batchweave
