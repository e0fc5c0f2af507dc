#include "bench/soak/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "batchweave/lifecycle/reclaim.h"
#include "batchweave/lifecycle/stored_bytes.h"
#include "batchweave/lifecycle/trim.h"
#include "batchweave/log/history.h"
#include "batchweave/stream/verify.h"
#include "bench/soak/batches.h"
#include "bench/soak/quarantiner.h"
#include "bench/soak/task_producer.h"

namespace batchweave::bench {
namespace {

constexpr uint64_t kToldMax = 20;

// Counts, and tells the first ones.
class Violations {
 public:
  void Add(const std::string& message) {
    if (++count_ <= kToldMax) fmt::print(stderr, "violation: {}\n", message);
  }
  uint64_t count() const { return count_; }

 private:
  uint64_t count_ = 0;
};

Result<uint64_t> LeakedBytes(ManifestLog& log) {
  const StoredBytes stored = BW_TRY(CountStored(log));
  for (const std::string& key : stored.leaked_keys) fmt::print(stderr, "leaked: {}\n", key);
  if (stored.not_understood > 0) fmt::print(stderr, "keys that are not ours: {}\n", stored.not_understood);
  return stored.leaked;
}

// The last batch that was read of each producer, by its number.
using LastSeqs = std::map<uint64_t, uint64_t>;

// The batches of each producer are 1, 2, 3... in the order of the steps; every rank has the same at each step, but for
// steps that were quarantined, which it may never have been given.
Result<LastSeqs> CheckRecords(const SoakFolder& folder, const std::vector<AuditedRank>& ranks, uint64_t steps,
                              Violations& violations) {
  std::vector<RecordFile> files;
  for (const AuditedRank& rank : ranks) {
    files.push_back(BW_TRY(RecordFile::Open(folder.Records(rank.group, rank.rank))));
  }
  const RecordFile quarantined = BW_TRY(RecordFile::Open(folder.Records(kQuarantineGroup, 0)));
  LastSeqs seqs;
  for (Step step{0}; step.value < steps; step = step + 1) {
    const StepRecord skipped = quarantined.Read(step);
    const bool may_be_missing = skipped.is_there == 1;
    const StepRecord expected = may_be_missing ? skipped : files.front().Read(step);
    for (size_t i = 0; i < files.size(); ++i) {
      const StepRecord found = files[i].Read(step);
      if (found.is_there == 1 ? found == expected : may_be_missing) continue;
      violations.Add(fmt::format("missing, or not what others read: step={} group={} rank={}", step.value,
                                 ranks[i].group, ranks[i].rank));
    }
    if (expected.is_there == 0) continue;
    uint64_t& last = seqs[expected.producer];
    if (expected.seq != last + 1) {
      violations.Add(fmt::format("not the producer's next batch: step={} producer={} seq={}", step.value,
                                 expected.producer, expected.seq));
    }
    last = expected.seq;
  }
  return seqs;
}

// What was read last of each producer is what its row says that it committed last, and all have finished.
Result<void> CheckRows(Stream& stream, LastSeqs& seqs, size_t producers, Violations& violations) {
  const LoggedManifest newest = BW_TRY(stream.log().ReadNewest());
  size_t finished = 0;
  for (const ProducerRow& row : BW_TRY(ReadRows(stream.log(), newest.manifest))) {
    const uint64_t number = SoakProducerNumber(row.producer);
    if (number < producers && row.state == ProducerRow::State::kFinished) finished += 1;
    if (row.seq == seqs[number]) continue;
    violations.Add(
        fmt::format("not read to the end: producer={} committed={} read={}", row.producer, row.seq, seqs[number]));
  }
  if (finished != producers) violations.Add(fmt::format("producers finished={} of={}", finished, producers));
  return {};
}

// Whether the stream still knows them or not, each task was done once, and whole.
void CheckTasks(const SoakFolder& folder, const LastSeqs& seqs, const SoakCrew& crew, Violations& violations) {
  uint64_t tasks = 0;
  for (uint64_t runner = 0; runner < crew.task_runners; ++runner) {
    const uint64_t done = CountTasksDone(folder, runner);
    tasks += done;
    for (uint64_t task = 0; task < done; ++task) {
      const auto last = seqs.find(TaskNumber(runner, task));
      if (last != seqs.end() && last->second == kTaskBatches) continue;
      violations.Add(fmt::format("a task is not read to its end: runner={} task={}", runner, task));
    }
  }
  const auto read = std::ranges::count_if(seqs, [&](const auto& last) { return last.first >= TaskNumber(0, 0); });
  if (static_cast<uint64_t>(read) != tasks) violations.Add(fmt::format("tasks read={} done={}", read, tasks));
}

}  // namespace

Result<SoakAudit> AuditSoak(Stream& stream, const SoakFolder& folder, const std::vector<AuditedRank>& ranks,
                            const SoakCrew& crew) {
  ManifestLog& log = stream.log();
  BW_TRY(Trim(log, kForever));
  const ReclaimReport reclaimed = BW_TRY(Reclaim(log));
  Violations violations;
  const VerifyReport verified = BW_TRY(VerifyStream(stream, {.deep = true, .on_progress = {}}));
  for (const Finding& finding : verified.findings) {
    if (finding.kind == Finding::Kind::kBroken) violations.Add(finding.invariant + ": " + finding.message);
  }
  LastSeqs seqs = BW_TRY(CheckRecords(folder, ranks, verified.next_step.value, violations));
  BW_TRY(CheckRows(stream, seqs, crew.producers, violations));
  CheckTasks(folder, seqs, crew, violations);
  return SoakAudit{.steps = verified.next_step.value,
                   .violations = violations.count() + verified.findings_left_out,
                   .leaked_bytes = BW_TRY(LeakedBytes(log)),
                   .reclaimed_objects = reclaimed.objects};
}

}  // namespace batchweave::bench
