#include "batchweave/lifecycle/reclaim.h"

#include <optional>
#include <utility>

#include "batchweave/base/fault_point.h"
#include "batchweave/base/mutation.h"
#include "batchweave/lifecycle/reachable.h"
#include "batchweave/lifecycle/reclaim_plan.h"
#include "batchweave/lifecycle/sweeper.h"
#include "batchweave/lifecycle/tombstone.h"
#include "batchweave/log/change.h"
#include "batchweave/log/deletion.h"
#include "batchweave/log/history.h"
#include "batchweave/store/overwrite_probe.h"

namespace batchweave {
namespace {

// Objects listed before the newest version is read and they are judged: bounds the memory (about 200 bytes each), and
// walks a busy stream once per so many.
constexpr size_t kRoundObjects = 100'000;

// Between reading the newest version and walking it another reclaimer may remove what was trimmed meanwhile. So often in
// a row means that a live object is missing.
constexpr int kWalksMax = 8;

// How many tombstones between two reports of progress.
constexpr uint64_t kTombstonesPerReport = 100;

Result<ReclaimJudge> MakeJudge(ManifestLog& log, const Manifest& newest) {
  ReachedKeys reached = BW_TRY(ReachedKeys::Of(log, newest));
  std::vector<ProducerRow> rows = BW_TRY(ReadRows(log, newest));
  return ReclaimJudge(log.keys(), newest, std::move(rows), std::move(reached));
}

// Judges by the newest version, which is read anew for each round.
class NewestJudge {
 public:
  explicit NewestJudge(ManifestLog& log) : log_(log) {}

  // Errors: those of the log; kCorrupt where an archived object that the newest version needs is gone.
  Result<const ReclaimJudge*> Get() {
    Error last{ErrorCode::kCorrupt, ""};
    if (BW_MUTATION(kReclaimByAnOldVersion) && judge_) return &*judge_;
    for (int walk = 0; walk < kWalksMax; ++walk) {
      newest_ = BW_TRY(newest_ ? log_.Refresh(*std::move(newest_)) : log_.ReadNewest());
      const Manifest& newest = newest_->manifest;
      if (judge_ && judge_->version() == newest.version) return &*judge_;
      BW_TRY(BeginNext(*newest_));  // Who may not commit may not reclaim.
      Result<ReclaimJudge> judge = MakeJudge(log_, newest);
      if (judge.ok()) return &judge_.emplace(*std::move(judge));
      if (!FailedWith(judge, ErrorCode::kNotFound)) return judge.error();
      last.message = "history that the newest version needs is missing: " + judge.error().message;
    }
    return last;
  }

 private:
  ManifestLog& log_;
  std::optional<LoggedManifest> newest_;
  std::optional<ReclaimJudge> judge_;
};

Result<void> SweepPrefix(ObjectStore& store, const std::string& prefix, NewestJudge& judges, Sweeper& sweeper) {
  std::string start_after;
  do {
    std::vector<ListedObject> listed;
    do {
      ListPage page = BW_TRY(store.List(prefix, start_after, kRoundObjects));
      std::ranges::move(page.objects, std::back_inserter(listed));
      start_after = std::move(page.next_start_after);
    } while (!start_after.empty() && listed.size() < kRoundObjects);
    if (listed.empty()) break;
    BW_FAULT_POINT("reclaim.listed");
    // Only now: what was committed before the listing is in it (fault D5).
    const ReclaimJudge& judge = *BW_TRY(judges.Get());
    BW_FAULT_POINT("reclaim.judged");
    for (const ListedObject& object : listed) BW_TRY(sweeper.Take(object, judge.Judge(object.key)));
    BW_TRY(sweeper.Flush());
  } while (!start_after.empty());
  return {};
}

Result<void> RetireOldVersions(ManifestLog& log, const ReclaimOptions& options, ReclaimReport& report) {
  const Version newest = BW_TRY(log.FindNewest());
  const VersionRange range = BW_TRY(FindRetirable(log, newest));
  if (options.dry_run) {
    report.tombstones = range.count();
    return {};
  }
  if (range.count() == 0) return {};
  const Env env = log.env();
  if (!options.overwrite_probed && !BW_MUTATION(kOverwriteNotProbed)) {
    BW_TRY(ProbeOverwrite(env, ProbePrefix(log.keys().name, env.random.Next())));
  }
  BW_FAULT_POINT("reclaim.overwrite_probed");
  return RetireVersions(log, range, [&](Version version) {
    report.tombstones += 1;
    const bool is_last = Next(version) == range.end;
    if (options.progress && (is_last || report.tombstones % kTombstonesPerReport == 0)) options.progress(report);
  });
}

// Who died in the middle of one left its parts, which no LIST of objects shows. What it would become is dead, or may still be
// named: as of any object.
Result<void> AbortDeadUploads(const ManifestLog& log, NewestJudge& judges, const ReclaimOptions& options,
                              ReclaimReport& report) {
  UnfinishedUploads* const uploads = log.env().uploads;
  if (uploads == nullptr) return {};
  const std::vector<UnfinishedUpload> listed = BW_TRY(uploads->ListUnfinished(log.keys().StreamPrefix()));
  if (listed.empty()) return {};
  const ReclaimJudge& judge = *BW_TRY(judges.Get());
  for (const UnfinishedUpload& upload : listed) {
    if (judge.Judge(upload.key) != Fate::kDead) continue;
    if (!options.dry_run) BW_TRY(uploads->AbortUnfinished(upload));
    report.uploads += 1;
    if (options.progress) options.progress(report);
  }
  return {};
}

Result<ReclaimReport> ReclaimAll(ManifestLog& log, const ReclaimOptions& options) {
  const StreamKeys& keys = log.keys();
  ObjectStore& store = log.env().store;
  NewestJudge judges(log);
  BW_TRY(judges.Get());  // Before anything else: may this software touch the stream at all?
  Sweeper sweeper(store, keys, options);
  for (const std::string& prefix :
       {keys.DataPrefix(), keys.IntentPrefix(), keys.ArchivePrefix(), keys.ProgressPrefix()}) {
    BW_TRY(SweepPrefix(store, prefix, judges, sweeper));
  }
  BW_FAULT_POINT("reclaim.swept");
  ReclaimReport report = sweeper.report();
  BW_TRY(RetireOldVersions(log, options, report));
  const Result<void> aborted = AbortDeadUploads(log, judges, options, report);
  if (!aborted.ok()) report.uploads_error = aborted.error();
  return report;
}

}  // namespace

Result<ReclaimReport> Reclaim(ManifestLog& log, const ReclaimOptions& options) {
  Result<ReclaimReport> report = ReclaimAll(log, options);
  if (report.ok()) return report;
  return UnlessDeleted(log, std::move(report).error());
}

Result<ReclaimReport> ReclaimTrimmed(ManifestLog& log, const Manifest& before, const Manifest& after) {
  BW_TRY(BeginNext({.manifest = after, .hash = {}}));
  Sweeper sweeper(log.env().store, log.keys(), {});
  // Archived objects are removed after what they name is known, not before: a run that is stopped can then begin again.
  std::vector<ReachedObject> archived;
  const Step end = after.first_step + (BW_MUTATION(kReclaimTakesTheFirstStep) ? 1 : 0);
  const Result<void> walked = WalkReachable(log, before, end, [&](const ReachedObject& object) -> Result<void> {
    if (object.end > end) return {};
    if (object.key.starts_with(log.keys().ArchivePrefix())) {
      archived.push_back(object);
      return {};
    }
    return sweeper.Take({.key = object.key, .size_bytes = object.size_bytes}, Fate::kDead);
  });
  // Gone: another reclaimer has been here.
  if (!walked.ok() && !FailedWith(walked, ErrorCode::kNotFound)) return walked.error();
  BW_TRY(sweeper.Flush());
  BW_FAULT_POINT("trimmed.data_deleted");
  for (const ReachedObject& object : archived) {
    BW_TRY(sweeper.Take({.key = object.key, .size_bytes = object.size_bytes}, Fate::kDead));
  }
  BW_TRY(sweeper.Flush());
  return sweeper.report();
}

}  // namespace batchweave
