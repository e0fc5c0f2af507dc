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
    const uint64_t number = NumberOf(entry.cursor).value_or(0);
    for (const Slice& slice : batch.slices()) {
      if (std::ranges::equal(slice.bytes, SliceOf(entry.producer, number, slice.at))) continue;
      evidence_.Report("I10", fmt::format("{} got wrong bytes for slice ({}, {}) of step {}", delivery.rank,
                                          slice.at.dp, slice.at.cp, batch.step().value));
    }
  }

 private:
  const Evidence& evidence_;
};

class SameStepsChecker final : public Checker {
 public:
  explicit SameStepsChecker(const Evidence& evidence) : evidence_(evidence) {}

  void OnVersion(const Manifest& before, const Manifest& after) override {
    // What a session skips is what was in force when it was opened, whatever is set or lifted later.
    for (const GroupRow& group : after.groups) {
      if (group.session.value == after.version.value) {
        skipped_[{group.name, group.session.value}] = before.quarantines;
      }
    }
  }

  void OnDelivery(const Delivery& delivery) override {
    const auto next = next_.find(delivery.rank);
    Step expected = next == next_.end() ? delivery.position : next->second;
    const std::vector<Quarantine>& skipped = skipped_[{delivery.group, delivery.session.value}];
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
  const Evidence& evidence_;
  std::map<std::pair<std::string, uint64_t>, std::vector<Quarantine>> skipped_;
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
