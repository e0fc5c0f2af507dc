#include "batchweave/stream/verify_manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "batchweave/log/producer_rows.h"

namespace batchweave {
namespace {

class Findings {
 public:
  void Broken(std::string_view invariant, std::string message, std::optional<Step> step = std::nullopt) {
    found_.push_back({.invariant = std::string(invariant), .message = std::move(message), .step = step});
  }
  std::vector<Finding> Take() { return std::move(found_); }

 private:
  std::vector<Finding> found_;
};

const Entry& EntryAt(const Manifest& manifest, Step step) {
  return manifest.tail[step.value - manifest.tail_first().value];
}

// The steps that both have must have the same entries.
void CheckSharedEntries(const Manifest& before, const Manifest& after, Findings& findings) {
  const Step end = std::min(before.next_step, after.next_step);
  for (Step step = std::max(before.tail_first(), after.tail_first()); step < end; step = step + 1) {
    if (EntryAt(before, step) == EntryAt(after, step)) continue;
    findings.Broken("I2", fmt::format("a committed entry changed: step={} version={}", step.value, after.version.value),
                    step);
  }
}

// New entries are accepted under the incarnation that their producer's row had in the version they were built on.
void CheckNewEntries(const Manifest& before, const Manifest& after, Findings& findings) {
  if (before.rows.empty()) return;
  for (Step step = std::max(before.next_step, after.tail_first()); step < after.next_step; step = step + 1) {
    const Entry& entry = EntryAt(after, step);
    const ProducerRow* row = FindRow(before, entry.producer);
    if (row == nullptr || row->incarnation == entry.incarnation) continue;
    findings.Broken("I6",
                    fmt::format("an entry was accepted from a fenced producer: step={} producer={} incarnation={} "
                                "current={}",
                                step.value, entry.producer, entry.incarnation.value, row->incarnation.value),
                    step);
  }
}

void CheckRowsGoForward(const Manifest& before, const Manifest& after, Findings& findings) {
  for (const ProducerRow& row : after.rows) {
    const ProducerRow* was = FindRow(before, row.producer);
    if (was == nullptr || was->state == ProducerRow::State::kForgotten || was->state == ProducerRow::State::kGone) {
      continue;
    }
    if (row.incarnation < was->incarnation) {
      findings.Broken("I6", fmt::format("an incarnation went back: producer={} version={} from={} to={}", row.producer,
                                        after.version.value, was->incarnation.value, row.incarnation.value));
    }
    if (row.seq < was->seq) {
      findings.Broken("I5", fmt::format("a seq went back: producer={} version={} from={} to={}", row.producer,
                                        after.version.value, was->seq, row.seq));
    }
  }
}

}  // namespace

std::vector<Finding> CheckSuccessor(const Manifest& before, const Manifest& after) {
  Findings findings;
  const uint64_t version = after.version.value;
  if (after.next_step < before.next_step) {
    findings.Broken("I2", fmt::format("steps vanished from the end: version={} from={} to={}", version,
                                      before.next_step.value, after.next_step.value));
  }
  if (after.first_step < before.first_step) {
    findings.Broken("I2", fmt::format("trimmed steps came back: version={} from={} to={}", version,
                                      before.first_step.value, after.first_step.value));
  }
  if (before.sealed && (!after.sealed || after.next_step > before.next_step)) {
    findings.Broken("I2", fmt::format("a sealed stream went on: version={}", version));
  }
  if (before.deleted) findings.Broken("I2", fmt::format("a deleted stream went on: version={}", version));
  CheckSharedEntries(before, after, findings);
  CheckNewEntries(before, after, findings);
  CheckRowsGoForward(before, after, findings);
  return findings.Take();
}

void ProducerCheck::Add(Step step, const Entry& entry) {
  const Last now{.step = step, .seq = entry.seq, .incarnation = entry.incarnation};
  const auto [last, is_first] = last_.try_emplace(entry.producer, now);
  if (!is_first) CheckFollows(step, entry, last->second);
  if (is_first && first_ == Step{0} && entry.seq != 1) {
    Broken("I5", step,
           fmt::format("the first batches of a producer are missing: producer={} step={} seq={}", entry.producer,
                       step.value, entry.seq));
  }
  last->second = now;
}

std::vector<Finding> ProducerCheck::Finish(const std::vector<ProducerRow>& rows) {
  for (const ProducerRow& row : rows) {
    const auto last = last_.find(row.producer);
    if (last != last_.end()) {
      CheckRow(row, last->second);
      last_.erase(last);
    } else if (row.step && *row.step >= first_) {
      Broken("I5", *row.step,
             fmt::format("the row of a producer names a batch that is not there: producer={} seq={} "
                         "step={}",
                         row.producer, row.seq, row.step->value));
    }
  }
  for (const auto& [producer, last] : last_) {
    Broken("I5", last.step,
           fmt::format("a producer has batches and no row: producer={} step={}", producer, last.step.value));
  }
  return std::move(findings_);
}

void ProducerCheck::CheckFollows(Step step, const Entry& entry, const Last& last) {
  if (entry.seq != last.seq + 1) {
    Broken("I5", step,
           fmt::format("the batches of a producer have a {}: producer={} step={} seq={} expected={}",
                       entry.seq > last.seq ? "gap" : "repeat", entry.producer, step.value, entry.seq, last.seq + 1));
  }
  if (entry.incarnation < last.incarnation) {
    Broken("I6", step,
           fmt::format("a batch of a fenced incarnation follows a newer one: producer={} step={} "
                       "incarnation={} before={}",
                       entry.producer, step.value, entry.incarnation.value, last.incarnation.value));
  }
}

void ProducerCheck::CheckRow(const ProducerRow& row, const Last& last) {
  if (row.seq != last.seq || row.step != last.step) {
    Broken("I5", last.step,
           fmt::format("the row of a producer is not that of its last batch: producer={} row seq={} "
                       "row step={} last seq={} last step={}",
                       row.producer, row.seq, row.step ? std::to_string(row.step->value) : "none", last.seq,
                       last.step.value));
  }
  if (row.incarnation < last.incarnation) {
    Broken("I6", last.step,
           fmt::format("a batch is of a newer incarnation than its producer's row: producer={} "
                       "row={} batch={}",
                       row.producer, row.incarnation.value, last.incarnation.value));
  }
}

void ProducerCheck::Broken(std::string_view invariant, Step step, std::string message) {
  findings_.push_back({.invariant = std::string(invariant), .message = std::move(message), .step = step});
}

}  // namespace batchweave
