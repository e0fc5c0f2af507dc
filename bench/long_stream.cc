#include "bench/long_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/lifecycle/group.h"
#include "batchweave/lifecycle/tombstone.h"
#include "batchweave/log/archive_history.h"
#include "batchweave/log/change.h"
#include "batchweave/log/pending_commit.h"
#include "bench/sample_stream.h"

namespace batchweave::bench {
namespace {

constexpr size_t kEntriesAVersion = 1000;
constexpr size_t kCrowdProducers = 1000;
constexpr size_t kCursorBytes = 16;

}  // namespace

LongStreamShape Crowded(LongStreamShape shape, size_t retired) {
  shape.groups = kGroupsMax;
  shape.producers = kCrowdProducers;
  shape.retired = retired;
  return shape;
}

Result<LongStream> LongStream::Make(Env env, const std::string& name, const LongStreamShape& shape) {
  BW_CHECK(shape.steps >= kLongStreamStepsMin);
  LongStream made(BW_TRY(Stream::Create(env, name)));
  BW_TRY(made.MakeTombstones(shape.tombstones));
  for (size_t i = 0; i < shape.groups; ++i) {
    BW_TRY(made.stream_.CreateGroup(fmt::format("group-{}", i), Step{0}));
  }
  BW_TRY(made.PublishReal(env));
  BW_TRY(made.OpenProducers(shape.producers));
  BW_TRY(made.AppendUntil(shape.steps / 2));
  BW_TRY(made.PublishReal(env));
  BW_TRY(made.AppendUntil(shape.steps - 1));
  BW_TRY(made.AddRetiredAndArchive(shape.retired));
  BW_TRY(made.PublishReal(env));
  BW_TRY(made.RetireOldVersions());
  return made;
}

Result<void> LongStream::CommitNext(Manifest next) {
  PendingCommit commit(stream_.log(), newest_, std::move(next));
  BW_CHECK(BW_TRY(commit.Resolve(kForever)) == PendingCommit::Outcome::kCommitted);  // Nobody else commits.
  newest_ = commit.committed();
  return {};
}

// While versions are small, so that a hundred thousand of them take seconds.
Result<void> LongStream::MakeTombstones(uint64_t count) {
  newest_ = BW_TRY(stream_.log().ReadNewest());
  if (count == 0) return {};
  for (uint64_t i = 0; i < count + kLiveVersions; ++i) {
    Manifest next = BW_TRY(BeginNext(newest_));
    BW_TRY(CommitNext(std::move(next)));
  }
  return RetireOldVersions();
}

Result<void> LongStream::RetireOldVersions() {
  ManifestLog& log = stream_.log();
  const VersionRange range = BW_TRY(FindRetirable(log, newest_.manifest.version));
  return RetireVersions(log, range, [](Version) {});
}

Result<void> LongStream::OpenProducers(size_t count) {
  newest_ = BW_TRY(stream_.log().ReadNewest());
  pattern_ = newest_.manifest.tail.back();
  Manifest next = BW_TRY(BeginNext(newest_));
  incarnation_ = {next.version.value};
  seqs_.assign(count, 0);
  for (size_t i = 0; i < count; ++i) {
    producers_.push_back(fmt::format("producer-{:04}", i));
    ProducerRow& row = FindOrAddRow(next, producers_.back());
    row.incarnation = incarnation_;
    row.opening_nonce = i + 1;
  }
  return CommitNext(std::move(next));
}

Result<void> LongStream::AddRetiredAndArchive(size_t count) {
  ManifestLog& log = stream_.log();
  Manifest next = BW_TRY(BeginNext(newest_));
  for (size_t i = 0; i < count; ++i) {
    next.rows.push_back({.producer = fmt::format("retired-{:06}", i),
                         .incarnation = incarnation_,
                         .opening_nonce = i + 1,
                         .state = ProducerRow::State::kFinished});
  }
  std::ranges::sort(next.rows, {}, &ProducerRow::producer);
  constexpr ArchiveLimits kAtOnce{.tail_bytes_low = 0, .tail_bytes_high = 1, .rows_bytes_low = 0, .rows_bytes_high = 1};
  BW_TRY(ArchiveHistory(log, next, newest_.manifest.next_step, kForever, kAtOnce));
  return CommitNext(std::move(next));
}

Result<void> LongStream::AppendUntil(uint64_t steps) {
  newest_ = BW_TRY(stream_.log().ReadNewest());
  while (newest_.manifest.next_step.value < steps) {
    BW_TRY(Commit(std::min<uint64_t>(kEntriesAVersion, steps - newest_.manifest.next_step.value)));
    if (newest_.manifest.version.value % kLiveVersions == 0) BW_TRY(RetireOldVersions());
  }
  return {};
}

Result<void> LongStream::PublishReal(Env env) {
  Producer producer = BW_TRY(stream_.OpenProducer("real"));
  const SamplePayload payload(env.random, {.grid = {.dp = 1, .cp = 1}, .slice_bytes = 1024});
  BW_TRY(producer.Publish(payload.MakeBatch(), {.cursor = Bytes(kCursorBytes)}));
  BW_TRY(producer.Flush());
  newest_ = BW_TRY(stream_.log().ReadNewest());
  real_steps_.push_back({newest_.manifest.next_step.value - 1});
  return {};
}

Result<void> LongStream::Commit(size_t entries) {
  ManifestLog& log = stream_.log();
  newest_ = BW_TRY(log.Refresh(std::move(newest_)));
  std::vector<CommitRun> runs;
  std::vector<std::string> names;
  const size_t count = std::min(entries, producers_.size());
  for (size_t i = 0; i < count; ++i) {
    CommitRun run{.producer = producers_[turn_], .incarnation = incarnation_};
    for (size_t of_run = i; of_run < entries; of_run += count) {
      Entry& entry = run.entries.emplace_back(pattern_);
      entry.producer = run.producer;
      entry.incarnation = incarnation_;
      entry.seq = ++seqs_[turn_];
      entry.parts[0].nonce = log.env().random.Next();
    }
    names.push_back(run.producer);
    runs.push_back(std::move(run));
    turn_ = (turn_ + 1) % producers_.size();
  }
  Manifest next = BW_TRY(BeginNext(newest_));
  BW_TRY(BringRows(log, row_table_, names, next));
  CommitPlan plan = PlanCommit(std::move(next), runs, log.env().clock.WallNow().count());
  BW_CHECK(plan.changes);
  BW_TRY(ArchiveHistory(log, plan.next, newest_.manifest.next_step, kForever));
  return CommitNext(std::move(plan.next));
}

}  // namespace batchweave::bench
