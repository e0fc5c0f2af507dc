#include "bench/soak/quarantiner.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "batchweave/base/random.h"
#include "batchweave/lifecycle/quarantine.h"
#include "batchweave/log/history.h"
#include "bench/soak/batches.h"

namespace batchweave::bench {
namespace {

constexpr Duration kPause = std::chrono::seconds(2);
constexpr uint64_t kStepsMax = 3;
constexpr Duration kCommitTime = std::chrono::seconds(30);

// The newest steps that lie in the second fifth between two checkpoints; none where there are none yet.
std::optional<StepRange> Choose(const Manifest& newest, uint64_t checkpoint_every, Random& random) {
  const uint64_t fifth = checkpoint_every / 5;
  if (newest.next_step.value < 2 * checkpoint_every) return std::nullopt;
  const uint64_t base = (newest.next_step.value - 2 * fifth) / checkpoint_every * checkpoint_every;
  const Step first{base + fifth + random.Next() % (fifth - kStepsMax)};
  if (first < newest.first_step) return std::nullopt;
  return StepRange{.first = first, .end = first + (1 + random.Next() % kStepsMax)};
}

// `result`, but for what happens to whoever comes too late.
Result<void> Tolerate(const Result<LoggedManifest>& result) {
  if (result.ok() || FailedWith(result, ErrorCode::kTrimmed) || FailedWith(result, ErrorCode::kNotFound)) return {};
  return result.error();
}

// One round. Records what is there before anybody may skip it.
Result<void> QuarantineSome(ManifestLog& log, RecordFile& records, uint64_t checkpoint_every) {
  const Env env = log.env();
  const Manifest newest = BW_TRY(log.ReadNewest()).manifest;
  const std::optional<StepRange> range = Choose(newest, checkpoint_every, env.random);
  if (!range) return {};
  const auto record = [&](Step step, const Entry& entry) { return records.Write(step, RecordOf(entry)); };
  const Result<void> recorded = ForEachEntry(log, newest, *range, record);
  if (FailedWith(recorded, ErrorCode::kNotFound)) return {};  // Trimmed meanwhile.
  BW_TRY(recorded);
  BW_TRY(Tolerate(SetQuarantine(log, *range, "soak", After(env.clock.Now(), kCommitTime))));
  if (env.random.Next() % 2 == 0) return {};
  env.clock.SleepUntil(After(env.clock.Now(), kPause));
  return Tolerate(LiftQuarantine(log, *range, After(env.clock.Now(), kCommitTime)));
}

}  // namespace

Result<void> RunSoakQuarantiner(const SoakFolder& folder, uint64_t checkpoint_every) {
  OpenedSoak opened = BW_TRY(OpenSoak(folder));
  const Env env = opened.owned->env();
  RecordFile records = BW_TRY(RecordFile::Open(folder.Records(kQuarantineGroup, 0)));
  while (!folder.IsRaised(kStopSign)) {
    BW_TRY(QuarantineSome(opened.stream.log(), records, checkpoint_every));
    env.clock.SleepUntil(After(env.clock.Now(), kPause));
  }
  return {};
}

}  // namespace batchweave::bench
