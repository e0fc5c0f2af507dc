#include "bench/soak/audit.h"

#include <fmt/format.h>

#include <cstdio>
#include <optional>

#include "batchweave/format/keys.h"
#include "batchweave/lifecycle/reachable.h"
#include "batchweave/lifecycle/reclaim.h"
#include "batchweave/lifecycle/trim.h"
#include "batchweave/log/history.h"
#include "batchweave/stream/verify.h"
#include "bench/soak/roles.h"

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

// Versions, placeholders and hints stay for ever, or for as long as the stream.
bool MayLeak(const std::optional<ParsedKey>& key) {
  if (!key) return true;
  return key->kind == ParsedKey::Kind::kData || key->kind == ParsedKey::Kind::kArchive ||
         key->kind == ParsedKey::Kind::kIntent || key->kind == ParsedKey::Kind::kOpening;
}

Result<uint64_t> LeakedBytes(ManifestLog& log) {
  const LoggedManifest newest = BW_TRY(log.ReadNewest());
  const ReachedKeys reached = BW_TRY(ReachedKeys::Of(log, newest.manifest));
  uint64_t leaked = 0;
  const auto visit = [&](const ListedObject& object) -> Result<void> {
    if (!reached.Contains(object.key) && MayLeak(ParseKey(log.keys(), object.key))) {
      leaked += object.size_bytes;
      fmt::print(stderr, "leaked: {}\n", object.key);
    }
    return {};
  };
  BW_TRY(ForEachObject(log.env().store, log.keys().StreamPrefix(), visit));
  return leaked;
}

// The batches of each producer are 1, 2, 3... in the order of the steps; every rank has the same at each step.
Result<void> CheckRecords(const SoakFolder& folder, const std::vector<AuditedRank>& ranks, uint64_t steps,
                          std::vector<uint64_t>& seqs, Violations& violations) {
  std::vector<RecordFile> files;
  for (const AuditedRank& rank : ranks) {
    files.push_back(BW_TRY(RecordFile::Open(folder.Records(rank.group, rank.rank))));
  }
  for (Step step{0}; step.value < steps; step = step + 1) {
    const StepRecord first = files.front().Read(step);
    for (size_t i = 0; i < files.size(); ++i) {
      if (files[i].Read(step) == first && first.is_there == 1) continue;
      violations.Add(fmt::format("missing, or not what the first rank read: step={} group={} rank={}", step.value,
                                 ranks[i].group, ranks[i].rank));
    }
    if (first.is_there == 0) continue;
    if (first.producer < seqs.size() && first.seq == seqs[first.producer] + 1) {
      seqs[first.producer] += 1;
      continue;
    }
    violations.Add(fmt::format("not the producer's next batch: step={} producer={} seq={}", step.value, first.producer,
                               first.seq));
  }
  return {};
}

// What was read last of each producer is what its row says that it committed last.
Result<void> CheckRows(Stream& stream, const std::vector<uint64_t>& seqs, Violations& violations) {
  const LoggedManifest newest = BW_TRY(stream.log().ReadNewest());
  size_t finished = 0;
  for (const ProducerRow& row : BW_TRY(ReadRows(stream.log(), newest.manifest))) {
    if (row.state == ProducerRow::State::kFinished) finished += 1;
    for (size_t i = 0; i < seqs.size(); ++i) {
      if (row.producer == SoakProducerName(i) && row.seq != seqs[i]) {
        violations.Add(fmt::format("not read to the end: producer={} committed={} read={}", i, row.seq, seqs[i]));
      }
    }
  }
  if (finished != seqs.size()) violations.Add(fmt::format("producers finished={} of={}", finished, seqs.size()));
  return {};
}

}  // namespace

Result<SoakAudit> AuditSoak(Stream& stream, const SoakFolder& folder, const std::vector<AuditedRank>& ranks,
                            size_t producers) {
  ManifestLog& log = stream.log();
  BW_TRY(Trim(log, kForever));
  const ReclaimReport reclaimed = BW_TRY(Reclaim(log));
  Violations violations;
  const VerifyReport verified = BW_TRY(VerifyStream(stream, {.deep = true, .on_progress = {}}));
  for (const Finding& finding : verified.findings) {
    if (finding.kind == Finding::Kind::kBroken) violations.Add(finding.invariant + ": " + finding.message);
  }
  std::vector<uint64_t> seqs(producers, 0);
  BW_TRY(CheckRecords(folder, ranks, verified.next_step.value, seqs, violations));
  BW_TRY(CheckRows(stream, seqs, violations));
  return SoakAudit{.steps = verified.next_step.value,
                   .violations = violations.count() + verified.findings_left_out,
                   .leaked_bytes = BW_TRY(LeakedBytes(log)),
                   .reclaimed_objects = reclaimed.objects};
}

}  // namespace batchweave::bench
