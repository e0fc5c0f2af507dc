// What a reader knows of the steps before it, and which question to the manifest log would teach it the next one. Pure:
// ask_log.h puts the questions.
//
// Entries are handed out one after the other, and few are kept: a backlog of a million steps costs what one of a
// thousand costs. A live stream is followed by the heads of successive versions, a long way is made by reading the
// newest version, and history by walking from a version to its archived objects.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/format/entry.h"
#include "batchweave/format/manifest.h"
#include "batchweave/format/manifest_steps.h"
#include "batchweave/log/manifest_log.h"

namespace batchweave {

// A step whose batch can be read.
struct KnownStep {
  Step step;
  // Shared by the prefetch window, the thread that fetches it and the batch, whichever is done with it last.
  std::shared_ptr<const Entry> entry;
  Hash128 version_hash;  // The link of the chain by which it became known.
};

struct LogQuestion {
  enum class Kind {
    kNewest,         // The newest version.
    kNewestVersion,  // Its number only.
    kHead,           // The head of `version`.
    kWhole,          // `version`, more than its head.
    kArchive,        // The object `archive`.
  };
  Kind kind;
  Version version;
  ArchiveRef archive;
  // But for heads: what is told of other steps than these is not looked at.
  Step first;
  size_t count;
  friend bool operator==(const LogQuestion&, const LogQuestion&) = default;
};

// What an archived object says: the entries of the steps from `first`, or the objects that say so.
struct ArchivedSteps {
  Step first;
  std::vector<Entry> entries;
  std::vector<ArchiveRef> children;
};

using LogAnswer = std::variant<ManifestSteps, ManifestHead, Version, ArchivedSteps>;

// Not safe for concurrent use.
class StepIndex {
 public:
  // `wanted` is the first step to be taken. At most `known_steps_max` (>= 1) are kept.
  StepIndex(Step wanted, size_t known_steps_max);

  // The first step that was not taken yet.
  Step wanted() const { return wanted_; }

  // The wanted step, once: then the next one is wanted. None where it is not known.
  std::optional<KnownStep> Take();
  const KnownStep* Peek() const { return known_.empty() ? nullptr : &known_.front(); }

  // No step follows the last that was taken: the stream is sealed.
  bool ended() const;

  // What to ask in order to know the wanted step. Not after the end.
  LogQuestion Ask() const;

  // True where `answer` taught something: take, or ask again. False where the successor is not there yet: ask later.
  // Errors: those of the answer that say nothing of the way to go on, kTrimmed (the wanted step is below the stream's
  // first), kNotFound (the stream was deleted), kCorrupt (the answer contradicts itself or what is known): to ask again
  // is then to begin with the newest version.
  Result<bool> Learn(const LogQuestion& question, Result<LogAnswer> answer);

  // The newest version seen so far.
  struct Newest {
    Version version;
    Hash128 hash;
    Step first_step;
    Step next_step;
    bool sealed = false;
    std::string producer;  // Of the newest entry; empty where there was none.
    int64_t committed_at_ns = 0;
  };
  const Newest& newest() const { return newest_; }

 private:
  Result<void> LearnWhole(ManifestSteps whole);
  Result<void> LearnHead(ManifestHead head);
  Result<void> LearnNewestVersion(Version newest);
  Result<void> LearnArchive(const ArchiveRef& ref, ArchivedSteps steps);
  Result<bool> LearnFailure(const LogQuestion& question, Error error);
  Result<void> LearnVersion(const Manifest& manifest, Hash128 hash);
  void AddEntries(Step first, std::vector<Entry> entries);
  bool WantedIsCommitted() const { return newest_.first_step <= wanted_ && wanted_ < newest_.next_step; }

  Step wanted_;
  const size_t known_steps_max_;
  std::deque<KnownStep> known_;  // The wanted step and those after it.
  Newest newest_;
  std::vector<ArchiveRef> archives_;   // Of the version last read whole, those that reach beyond the wanted step.
  std::optional<ArchiveRef> missing_;  // Was not there: the newest version must name another for its steps.
  bool asks_few_ = true;               // Until the first step is taken.
  bool refresh_ = true;                // What is known is nothing, or outdated.
  std::optional<Version> jump_;        // A version far ahead, to be read whole.
  uint64_t heads_in_a_row_ = 0;        // Read one after the other without an answer "not yet".
  uint64_t heads_max_ = 0;             // So many, and it is time to ask how far the newest is.
};

}  // namespace batchweave
