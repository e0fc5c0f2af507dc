#include "sim/scale/lab_producer.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/producer/combining_law.h"
#include "batchweave/producer/open_producer.h"
#include "batchweave/producer/pack.h"
#include "batchweave/store/backoff.h"
#include "batchweave/testing/aimd_law.h"
#include "batchweave/testing/fair_law.h"
#include "batchweave/testing/fixed_law.h"

namespace batchweave::sim {
namespace {

constexpr size_t kCursorBytes = 16;

// Of one producer. The pipeline's own bound is above it: beyond that a call would have to wait for room.
constexpr uint64_t kPendingMax = 4000;

std::unique_ptr<CommitLaw> MakeLaw(const Scenario& scenario) {
  switch (scenario.policy) {
    case Policy::kDefault: return std::make_unique<CombiningLaw>();
    case Policy::kFair: return std::make_unique<FairLaw>();
    case Policy::kFixed: return std::make_unique<FixedLaw>(scenario.fixed_interval);
    case Policy::kAimd: return std::make_unique<AimdLaw>();
  }
  return nullptr;
}

Duration Exponential(Random& random, double per_s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(-std::log(1 - NextUnit(random)) / per_s));
}

}  // namespace

LabProducer::LabProducer(Machine machine, LabServer& server, Tally& tally, const LabStream& stream,
                         const Scenario& scenario, size_t index, uint64_t life)
    : scheduler_(machine.scheduler),
      server_(server),
      tally_(tally),
      keys_(stream.keys),
      index_(index),
      process_(machine, LabProducerName(index), (scenario.seed * 1'000'003 + index) * 1'009 + life, {},
               /*retries=*/false),
      client_(server, process_),
      store_(client_, process_.clock(), process_.random()),
      log_(env(), stream.keys, stream.stream_json_hash),
      pipeline_(env()),
      law_(MakeLaw(scenario)),
      committer_(env(), log_, pipeline_, *law_),
      incarnation_(stream.incarnation) {}

Env LabProducer::env() {
  const Env base = process_.env();
  return {.store = store_, .clock = base.clock, .random = base.random, .threads = base.threads};
}

void LabProducer::Add(const OpenedProducer& opened) {
  producer_ = std::make_shared<ProducerState>(LabProducerName(index_), opened,
                                              ProducerOptions{.max_staleness = work_.max_staleness});
  pipeline_.Add(producer_);
}

void LabProducer::Start(const Work& work) {
  work_ = work;
  Add({.incarnation = incarnation_});
  process_.Run([this] { Commit(); });
  ScheduleArrival();
}

void LabProducer::OpenAndStart(const Work& work) {
  work_ = work;
  process_.Run([this] {
    Result<OpenedProducer> opened = Error{ErrorCode::kUnavailable, "not tried"};
    while (!process_.dead() && !opened.ok()) {
      opened = CommitOpening(log_, LabProducerName(index_), /*reopen=*/false, kForever);
    }
    if (process_.dead()) return;
    tally_.OnOpened();
    Add(*opened);
    ScheduleArrival();
    Commit();
  });
}

void LabProducer::Commit() {
  // Where LIST is in no order the newest version is sought from one that is known: an opening would have told it. So many that
  // start at once may be refused, and come again as openings do.
  Backoff backoff(process_.clock(), process_.random(), {.attempts_max = SIZE_MAX}, kForever);
  while (!process_.dead() && !log_.ReadNewest().ok() && backoff.Wait()) {
  }
  while (pipeline_.AwaitCommittable(committer_.serves())) committer_.CommitOnce();
}

void LabProducer::Stop() {
  process_.Kill();
  pipeline_.Stop();
}

void LabProducer::ScheduleArrival() {
  if (work_.batches_per_s <= 0) return;
  const double arrivals_per_s = work_.batches_per_s / static_cast<double>(work_.burst);
  scheduler_.At(scheduler_.now() + Exponential(process_.random(), arrivals_per_s), [this] { Arrive(); });
}

void LabProducer::Arrive() {
  if (process_.dead() || scheduler_.now() >= work_.until) return;
  ScheduleArrival();
  for (uint64_t i = 0; i < work_.burst; ++i) Upload();
}

void LabProducer::Upload() {
  const ProducerStats stats = pipeline_.StatsOf(*producer_);
  if (stats.published - stats.committed >= kPendingMax) return;
  GlobalBatch batch({.dp = 1, .cp = 1});
  BW_CHECK(batch.SetCopy({}, AsBytes("laboratory")).ok());
  BW_CHECK(pipeline_.Enqueue(*producer_, std::move(batch), {.cursor = Bytes(kCursorBytes)}).ok());
  const std::optional<UploadJob> job = pipeline_.TakeUpload();  // There is one, so that this does not wait.
  PendingBatch& pending = *job->batch;
  const TgbIdentity identity{.stream_id = keys_.stream_id,
                             .producer = producer_->name,
                             .incarnation = producer_->opened.incarnation,
                             .seq = pending.seq};
  pending.packed = PackBatch(identity, pending.batch, pending.options, process_.random().Next());
  server_.requests().puts += 1;
  const StoreProfile& profile = server_.network().profile();
  const Duration took = Draw(process_.random(), profile.put, profile.bytes_per_s, pending.size_bytes);
  scheduler_.At(scheduler_.now() + took, [this, uploaded = *job] { FinishUpload(uploaded); });
}

void LabProducer::FinishUpload(const UploadJob& job) {
  if (process_.dead()) return;
  tally_.OnUpload(index_, job.batch->seq);
  pipeline_.FinishUpload(job, {});
}

}  // namespace batchweave::sim
