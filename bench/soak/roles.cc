#include "bench/soak/roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "batchweave/lifecycle/group.h"
#include "batchweave/lifecycle/reclaim.h"
#include "batchweave/stream/stream.h"
#include "bench/soak/batches.h"
#include "bench/soak/part_worker.h"

namespace batchweave::bench {
namespace {

constexpr uint64_t kInPartsEvery = 10;
constexpr Duration kReclaimPause = std::chrono::seconds(2);
constexpr Duration kStartPause = std::chrono::milliseconds(20);

Result<void> PublishOne(const SoakFolder& folder, OpenedSoak& opened, Producer& producer, uint64_t seq) {
  const PublishOptions options{.cursor = ToBytes(std::to_string(seq)),
                               .cursor_before = ToBytes(std::to_string(seq - 1))};
  if (seq % kInPartsEvery != 0) {
    GlobalBatch batch = BW_TRY(MakeSoakBatch(producer.name(), seq, WholeOf(kSoakGrid)));
    BW_TRY(producer.Publish(std::move(batch), options));
    return {};
  }
  if (BW_TRY(PublishByWorkers(folder, opened.owned->env(), producer, seq, options))) return {};
  const PartTicket ticket = BW_TRY(producer.NextTicket(kSoakGrid));
  std::vector<PartReceipt> receipts;
  for (uint32_t cp = 0; cp < kSoakGrid.cp; ++cp) {
    const GlobalBatch slices = BW_TRY(MakeSoakBatch(producer.name(), seq, SoakPart(cp)));
    receipts.push_back(BW_TRY(opened.stream.WritePart(ticket, SoakPart(cp), slices)));
  }
  BW_TRY(producer.PublishParts(receipts, options));
  return {};
}

// Where the job goes on: at its newest checkpoint, or at its group's start.
Step PositionOf(const Manifest& newest, const std::string& group) {
  Step position = FindGroup(newest, group)->start;
  for (const Checkpoint& checkpoint : newest.checkpoints) {
    if (checkpoint.group == group) position = checkpoint.position;
  }
  return position;
}

// What rank 0 does besides reading.
class Leader {
 public:
  static Result<Leader> Open(const SoakFolder& folder, const RankTask& task, Stream& stream) {
    const LoggedManifest newest = BW_TRY(stream.log().ReadNewest());
    const Step position = PositionOf(newest.manifest, task.group);
    Leader leader(task, BW_TRY(stream.OpenGroup(task.group, {.start = position})));
    for (size_t rank = 0; rank < task.ranks; ++rank) {
      leader.records_.push_back(BW_TRY(RecordFile::Open(folder.Records(task.group, rank))));
    }
    BW_TRY(folder.TellStart(task.group, task.life, {.session = leader.group_.session(), .position = position}));
    return leader;
  }

  // Registers a checkpoint once every rank has a record of the last step before it.
  Result<void> OnStep(Step step) {
    BW_TRY(group_.ReportProgress(step + 1));
    if (!due_ && (step.value + 1) % task_.checkpoint_every == 0) due_ = step + 1;
    if (!due_) return {};
    const Step last{due_->value - 1};
    for (const RecordFile& records : records_) {
      if (records.Read(last).is_there == 0) return {};
    }
    const bool reclaims = due_->value / task_.checkpoint_every % 2 == 0;
    const Step position = *due_;
    due_.reset();
    return group_.Checkpoint(fmt::format("at-{}", position.value), position, {.reclaim = reclaims});
  }

 private:
  Leader(const RankTask& task, Group group) : task_(task), group_(std::move(group)) {}
  RankTask task_;
  Group group_;
  std::vector<RecordFile> records_;
  std::optional<Step> due_;
};

Result<StepRecord> CheckBatch(const RankBatch& batch) {
  const Entry& entry = batch.entry();
  for (const Slice& slice : batch.slices()) {
    if (std::ranges::equal(slice.bytes, MakeSoakSlice(entry.producer, entry.seq, slice.at))) continue;
    return Error{ErrorCode::kCorrupt, fmt::format("another slice than was published: step={} producer={} seq={}",
                                                  batch.step().value, entry.producer, entry.seq)};
  }
  return RecordOf(entry);
}

Result<void> Keep(RecordFile& records, Step step, const StepRecord& record) {
  const StepRecord earlier = records.Read(step);
  if (earlier.is_there == 0) return records.Write(step, record);
  if (earlier == record) return {};
  return Error{ErrorCode::kCorrupt, fmt::format("another batch than before: step={}", step.value)};
}

}  // namespace

Result<void> RunSoakProducer(const SoakFolder& folder, const ProducerTask& task) {
  OpenedSoak opened = BW_TRY(OpenSoak(folder));
  const Env env = opened.owned->env();
  Result<Producer> producer =
      opened.stream.OpenProducer(SoakProducerName(task.number), {.max_lead_steps = task.max_lead_steps});
  if (FailedWith(producer, ErrorCode::kAlreadyExists)) return {};  // Killed right after its last commit.
  if (!producer.ok()) return producer.error();
  RemoveTickets(folder, *producer);
  const auto& cursor = producer->cursor();
  uint64_t seq = cursor ? NumberIn(AsText(*cursor)) : 0;
  while (!folder.IsRaised(kStopSign)) {
    ++seq;
    BW_TRY(PublishOne(folder, opened, *producer, seq));
    env.clock.SleepUntil(
        After(env.clock.Now(), std::chrono::duration_cast<Duration>(2 * NextUnit(env.random) * task.period)));
  }
  return producer->Finish();
}

Result<void> RunSoakRank(const SoakFolder& folder, const RankTask& task) {
  OpenedSoak opened = BW_TRY(OpenSoak(folder));
  const Env env = opened.owned->env();
  std::optional<Leader> leader;
  if (task.rank == 0) leader.emplace(BW_TRY(Leader::Open(folder, task, opened.stream)));
  std::optional<JobStart> start = folder.FindStart(task.group, task.life);
  while (!start) {  // Ends, at the latest, with the job.
    env.clock.SleepUntil(After(env.clock.Now(), kStartPause));
    start = folder.FindStart(task.group, task.life);
  }
  ConsumerOptions options{
      .position = start->position, .rank = task.mesh, .group = task.group, .session = start->session};
  options.prefetch_threads = 1;
  Consumer consumer = BW_TRY(opened.stream.OpenConsumer(options));
  RecordFile records = BW_TRY(RecordFile::Open(folder.Records(task.group, task.rank)));
  for (auto batch = BW_TRY(consumer.Next()); batch; batch = BW_TRY(consumer.Next())) {
    const StepRecord record = BW_TRY(CheckBatch(*batch));
    BW_TRY(Keep(records, batch->step(), record));
    if (leader) BW_TRY(leader->OnStep(batch->step()));
    if (task.slowed > Duration{} && !folder.IsRaised(kStopSign)) {
      env.clock.SleepUntil(After(env.clock.Now(), task.slowed));
    }
  }
  return {};
}

Result<void> RunSoakReclaimer(const SoakFolder& folder) {
  OpenedSoak opened = BW_TRY(OpenSoak(folder));
  const Env env = opened.owned->env();
  ReclaimOptions options;
  while (!folder.IsRaised(kEndSign)) {
    BW_TRY(Reclaim(opened.stream.log(), options));
    options.overwrite_probed = true;
    env.clock.SleepUntil(After(env.clock.Now(), kReclaimPause));
  }
  return {};
}

}  // namespace batchweave::bench
