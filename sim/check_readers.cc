// I10: a reader gets the committed bytes. I11: all ranks of a session see the same steps. I12: every call ends.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "batchweave/lifecycle/quarantine.h"
#include "sim/checkers.h"
#include "sim/source.h"

namespace batchweave::sim {
namespace {

class ContentChecker final : public Checker {
 public:
  explicit ContentChecker(const Evidence& evidence) : evidence_(evidence) {}

  void OnDelivery(const Delivery& delivery) override {
    if (delivery.batch == nullptr) return;
    const RankBatch& batch = *delivery.batch;
    const std::vector<LedgerStep>& steps = evidence_.ledger.steps();
    const Entry& entry = batch.entry();
    if (batch.step().value >= steps.size() || steps[batch.step().value].entry != entry) {
      return evidence_.Report("I10", fmt::format("{} got something else for step {} than was committed", delivery.rank,
                                                 batch.step().value));
    }
    CheckPlaces(delivery, entry.grid);
    const uint64_t number = NumberOf(entry.cursor).value_or(0);
    for (const Slice& slice : batch.slices()) {
      if (std::ranges::equal(slice.bytes, SliceOf(entry.producer, number, slice.at))) continue;
      evidence_.Report("I10", fmt::format("{} got wrong bytes for slice ({}, {}) of step {}", delivery.rank,
                                          slice.at.dp, slice.at.cp, batch.step().value));
    }
  }

 private:
  // Its own slices, each once, cp outermost: of G along an axis, rank r of M has those from r*G/M to (r+1)*G/M.
  void CheckPlaces(const Delivery& delivery, Grid grid) {
    const MeshRank& rank = delivery.mesh;
    std::vector<Coordinate> due;
    for (uint32_t cp = rank.cp_rank * grid.cp / rank.cp_size; cp < (rank.cp_rank + 1) * grid.cp / rank.cp_size; ++cp) {
      for (uint32_t dp = rank.dp_rank * grid.dp / rank.dp_size; dp < (rank.dp_rank + 1) * grid.dp / rank.dp_size; ++dp)
        due.push_back({.dp = dp, .cp = cp});
    }
    if (std::ranges::equal(delivery.batch->slices(), due, {}, &Slice::at)) return;
    evidence_.Report("I11", fmt::format("{} got {} slices of step {}, and not those {} of its place", delivery.rank,
                                        delivery.batch->slices().size(), delivery.batch->step().value, due.size()));
  }

  const Evidence& evidence_;
};

class SameStepsChecker final : public Checker {
 public:
  explicit SameStepsChecker(const Evidence& evidence) : evidence_(evidence) {}

  void OnVersion(const Manifest& before, const Manifest& after) override {
    // What a session skips is what was in force when it was opened, whatever is set or lifted later.
    for (const GroupRow& group : after.groups) {
      if (group.session.value == after.version.value) {
        sessions_[{group.name, group.session.value}] = {.start = group.start, .skipped = before.quarantines};
      }
    }
  }

  void OnDelivery(const Delivery& delivery) override {
    const auto& [start, skipped] = sessions_[{delivery.group, delivery.session.value}];
    const auto next = next_.find(delivery.rank);
    Step expected = next == next_.end() ? start : next->second;
    const auto skips = [&](Step step) {
      return std::ranges::any_of(skipped, [&](const Quarantine& range) {
        return range.lifted_at == Version{} && range.first <= step && step < range.end;
      });
    };
    const Step end = delivery.batch == nullptr ? evidence_.ledger.newest().next_step : delivery.batch->step();
    while (expected < end && skips(expected)) expected = expected + 1;
    if (expected != end || (delivery.batch != nullptr && skips(end))) {
      evidence_.Report("I11", fmt::format("{} of session {} of {} came to step {}, and step {} was due", delivery.rank,
                                          delivery.session.value, delivery.group, end.value, expected.value));
    }
    if (delivery.batch == nullptr && !evidence_.ledger.newest().sealed) {
      evidence_.Report("I11", fmt::format("{} was told that a stream has ended that is not sealed", delivery.rank));
    }
    next_[delivery.rank] = delivery.batch == nullptr ? end : end + 1;
  }

 private:
  struct OpenedSession {
    Step start{};
    std::vector<Quarantine> skipped{};
  };

  const Evidence& evidence_;
  std::map<std::pair<std::string, uint64_t>, OpenedSession> sessions_;
  std::map<std::string, Step> next_;
};

class BoundChecker final : public Checker {
 public:
  explicit BoundChecker(const Evidence& evidence) : evidence_(evidence) {}

  void OnCall(const TimedCall& call) override {
    if (call.took <= call.limit) return;
    evidence_.Report("I12",
                     fmt::format("{} of {} took {:.1f} s, and {:.1f} s are its limit", call.what, call.who,
                                 std::chrono::duration<double>(call.took).count(),
                                 std::chrono::duration<double>(call.limit).count()),
                     call.who);
  }

 private:
  const Evidence& evidence_;
};

}  // namespace

void AddReaderCheckers(const Evidence& evidence, Checkers& checkers) {
  checkers.push_back(std::make_unique<ContentChecker>(evidence));
  checkers.push_back(std::make_unique<SameStepsChecker>(evidence));
  checkers.push_back(std::make_unique<BoundChecker>(evidence));
}

}  // namespace batchweave::sim
