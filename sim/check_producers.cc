// I5: a producer's batches follow each other, with their cursors. I6: only under its current incarnation. I7: what was
// acknowledged stays.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/checkers.h"
#include "sim/source.h"

namespace batchweave::sim {
namespace {

// The life of one producer's row, from its first opening; a forgotten name that is opened again begins another.
struct Life {
  Incarnation incarnation{};
  uint64_t seq = 0;
  uint64_t number = 0;  // In its source, of the last committed batch.
  std::optional<Step> step{};
  ProducerRow::State state = ProducerRow::State::kOpen;
};

std::string About(const std::string& producer) { return "/" + producer + "/"; }

// Versions after its opening that a row is kept for at least: docs/protocol.md, "A manifest version".
constexpr uint64_t kRowKeptVersions = 1000;

class SequenceChecker final : public Checker {
 public:
  explicit SequenceChecker(const Evidence& evidence) : evidence_(evidence) {}

  void OnVersion(const Manifest& before, const Manifest& after) override {
    ForEachOpening(evidence_.ledger, before, after, [&](const ProducerRow& row) { BeginLife(row, after); });
    ForEachNewEntry(evidence_.ledger, before, after, [&](Step step, const Entry& entry) { OnEntry(step, entry); });
    for (const ProducerRow& row : after.rows) CompareRow(row, after);
    if (after.archived_rows != before.archived_rows) {
      CompareTable(after);
    } else {
      CompareRows(before, after);
    }
  }

 private:
  void BeginLife(const ProducerRow& row, const Manifest& after) {
    Life& life = lives_[row.producer];
    // Opened anew, with nothing behind it.
    if (life.seq > 0 && row.seq == 0 && MayHaveGone(life, after)) life = {};
  }

  static bool MayHaveGone(const Life& life, const Manifest& after) {
    return life.state == ProducerRow::State::kForgotten && (!life.step || *life.step < after.first_step) &&
           after.version.value >= life.incarnation.value + kRowKeptVersions;
  }

  void OnEntry(Step step, const Entry& entry) {
    Life& life = lives_[entry.producer];
    const std::optional<uint64_t> number = NumberOf(entry.cursor);
    if (entry.seq != life.seq + 1 || number != life.number + 1) {
      evidence_.Report("I5",
                       fmt::format("step {} has seq {} (batch {}) of {}, after seq {} (batch {})", step.value,
                                   entry.seq, number.value_or(0), entry.producer, life.seq, life.number),
                       About(entry.producer));
    }
    life.seq = entry.seq;
    life.number = number.value_or(0);
    life.step = step;
  }

  void CompareRow(const ProducerRow& row, const Manifest& after) {
    Life& life = lives_[row.producer];
    if (row.state == ProducerRow::State::kGone) return;
    if (row.seq != life.seq || (row.seq > 0 && row.step != life.step)) {
      evidence_.Report("I5",
                       fmt::format("version {}: the row of {} stands at seq {}, its entries at {}", after.version.value,
                                   row.producer, row.seq, life.seq),
                       About(row.producer));
    }
    if (row.cursor && NumberOf(*row.cursor) != life.number) {
      evidence_.Report("I5",
                       fmt::format("version {}: the cursor in the row of {} is not the one after batch {}",
                                   after.version.value, row.producer, life.number),
                       About(row.producer));
    }
    const bool trimmed = life.step && *life.step < after.first_step;
    if (trimmed && !row.cursor) {
      evidence_.Report(
          "I5", fmt::format("version {}: the cursor of {} went with its entry", after.version.value, row.producer),
          About(row.producer));
    }
    const bool is_open_again = life.state != ProducerRow::State::kOpen && row.state == ProducerRow::State::kOpen;
    if (is_open_again && row.incarnation == life.incarnation) {
      evidence_.Report("I5",
                       fmt::format("version {} opens {} again, which had finished", after.version.value, row.producer),
                       About(row.producer));
    }
    life.incarnation = row.incarnation;
    life.state = row.state;
  }

  // Only into a table do rows leave a manifest.
  void CompareRows(const Manifest& before, const Manifest& after) {
    for (const ProducerRow& row : before.rows) {
      if (std::ranges::binary_search(after.rows, row.producer, {}, &ProducerRow::producer)) continue;
      evidence_.Report("I5", fmt::format("version {} has lost the row of {}", after.version.value, row.producer),
                       About(row.producer));
    }
  }

  // A table of all rows was written anew: whoever is not in it must have been free to go.
  void CompareTable(const Manifest& after) {
    if (!after.archived_rows) return evidence_.Report("I5", "the table of rows is named no more");
    const Result<std::vector<ProducerRow>> rows = evidence_.ledger.Rows();
    if (!rows.ok()) return evidence_.Report("I4", "the table of rows: " + ToString(rows.error()));
    for (const auto& [producer, life] : lives_) {
      const auto row = std::ranges::lower_bound(*rows, producer, {}, &ProducerRow::producer);
      if (row != rows->end() && row->producer == producer) {
        CompareRow(*row, after);
      } else if (life.incarnation.value > 0 && !MayHaveGone(life, after)) {
        evidence_.Report("I5", fmt::format("version {} has lost the row of {}", after.version.value, producer),
                         About(producer));
      }
    }
  }

  const Evidence& evidence_;
  std::map<std::string, Life> lives_;
};

class IncarnationChecker final : public Checker {
 public:
  explicit IncarnationChecker(const Evidence& evidence) : evidence_(evidence) {}

  void OnOpened(const OpeningReport& opening) override {
    if (opened_.insert({opening.producer, opening.incarnation.value}).second) return;
    evidence_.Report("I6",
                     fmt::format("incarnation {} of {} was given twice", opening.incarnation.value, opening.producer),
                     About(opening.producer));
  }

  void OnVersion(const Manifest& before, const Manifest& after) override {
    for (const ProducerRow& row : after.rows) OnRow(row, after.version);
    // An opening may go straight into a table.
    if (after.archived_rows != before.archived_rows) {
      const Result<std::vector<ProducerRow>> rows = evidence_.ledger.Rows();
      if (!rows.ok()) return evidence_.Report("I4", "the table of rows: " + ToString(rows.error()));
      for (const ProducerRow& row : *rows) OnRow(row, after.version);
    }
    ForEachNewEntry(evidence_.ledger, before, after, [&](Step step, const Entry& entry) {
      if (entry.incarnation == current_[entry.producer]) return;
      evidence_.Report("I6",
                       fmt::format("step {} is of incarnation {} of {}, and {} is current", step.value,
                                   entry.incarnation.value, entry.producer, current_[entry.producer].value),
                       About(entry.producer));
    });
  }

 private:
  void OnRow(const ProducerRow& row, Version version) {
    Incarnation& known = current_[row.producer];
    if (row.incarnation == known) return;
    if (row.incarnation.value != version.value || row.incarnation < known) {
      evidence_.Report("I6",
                       fmt::format("version {} gives {} the incarnation {}, after {}", version.value, row.producer,
                                   row.incarnation.value, known.value),
                       About(row.producer));
    }
    known = row.incarnation;
  }

  const Evidence& evidence_;
  std::map<std::string, Incarnation> current_;
  std::set<std::pair<std::string, uint64_t>> opened_;  // That holders were told of.
};

// An entry never changes or goes (I2, I3), so that it is enough to look for it once.
class AcknowledgedChecker final : public Checker {
 public:
  explicit AcknowledgedChecker(const Evidence& evidence) : evidence_(evidence) {}

  void OnAcknowledged(const Acknowledgement& told) override {
    const std::vector<LedgerStep>& steps = evidence_.ledger.steps();
    const auto is_it = [&](const LedgerStep& step) {
      return step.entry.producer == told.producer && step.entry.seq == told.seq &&
             NumberOf(step.entry.cursor) == told.number;
    };
    // A name that has gone may have had the same seqs in another life.
    const auto is_ours = [&](const LedgerStep& step) {
      return is_it(step) && step.entry.incarnation == told.incarnation;
    };
    if (std::any_of(steps.rbegin(), steps.rend(), is_ours)) return;
    const auto committed = std::find_if(steps.rbegin(), steps.rend(), is_it);
    if (committed == steps.rend()) {
      evidence_.Report("I7",
                       fmt::format("{} was told that its batch {} (seq {}) is committed, and it is not", told.producer,
                                   told.number, told.seq),
                       About(told.producer));
    } else {
      evidence_.Report("I7",
                       fmt::format("{} of incarnation {} took seq {} for its own, which incarnation {} committed",
                                   told.producer, told.incarnation.value, told.seq, committed->entry.incarnation.value),
                       About(told.producer));
    }
  }

 private:
  const Evidence& evidence_;
};

}  // namespace

void AddProducerCheckers(const Evidence& evidence, Checkers& checkers) {
  checkers.push_back(std::make_unique<SequenceChecker>(evidence));
  checkers.push_back(std::make_unique<IncarnationChecker>(evidence));
  checkers.push_back(std::make_unique<AcknowledgedChecker>(evidence));
}

}  // namespace batchweave::sim
