#include "examples/demo/run/reading_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace batchweave::demo {
namespace {

// Over all ranks there ever were.
template <typename Get>
uint64_t SumOf(const std::vector<Worker>& now, const std::vector<Worker>& earlier, Get get) {
  uint64_t sum = 0;
  for (const std::vector<Worker>* workers : {&now, &earlier}) {
    for (const Worker& worker : *workers) sum += get(worker);
  }
  return sum;
}

}  // namespace

ReadingJob::ReadingJob(Stream& stream, const Commands& commands, Display& display, ReadingPlan plan,
                       const std::vector<Kill>& kills, uint64_t pace_ms)
    : stream_(stream),
      commands_(commands),
      display_(display),
      plan_(std::move(plan)),
      kills_(kills),
      pace_ms_(pace_ms) {}

Result<void> ReadingJob::Start() {
  BW_TRY(stream_.CreateGroup(plan_.group, Step{0}));
  return StartRanks();
}

Result<void> ReadingJob::StartRanks() {
  Commands::RankPlace place{.group = plan_.group, .pace_ms = pace_ms_};
  if (mesh_ > 0) place.start_step = plan_.changes[mesh_ - 1];
  if (mesh_ < plan_.changes.size()) place.end_step = plan_.changes[mesh_];
  session_ = BW_TRY(stream_.OpenGroup(plan_.group, {.start = Step{place.start_step}}));
  place.session = session_->session();
  for (const MeshRank& rank : RanksOf(mesh())) {
    place.rank = rank;
    ranks_.emplace_back(commands_.Rank(place), stream_.env().clock,
                        KilledAt(kills_, RankName(plan_.group, place.rank)));
    BW_TRY(ranks_.back().Start());
  }
  display_.Say(fmt::format("{}: {} at step {}, {}, session {}", plan_.group,
                           ranks_.size() == 1 ? "1 rank starts" : fmt::format("{} ranks start", ranks_.size()),
                           place.start_step, ToString(mesh()), place.session.value));
  return {};
}

Result<std::optional<Step>> ReadingJob::Tend() {
  if (over_) return std::optional<Step>();
  for (Worker& rank : ranks_) {
    for (const ProgressReport& report : BW_TRY(rank.Observe())) {
      if (report.event != ProgressReport::Event::kBegin || rank.restarts() == 0) continue;
      display_.Say(fmt::format("{} is back: its last record says step {}, it goes on there", rank.name(), report.at));
    }
  }
  const bool all_ended = std::ranges::all_of(ranks_, &Worker::ended);
  if (all_ended) BW_TRY(CheckEnd());
  const std::optional<Step> checkpoint = BW_TRY(CheckpointIfDue(all_ended));
  if (!all_ended) return checkpoint;
  over_ = mesh_ == plan_.changes.size();
  if (over_) return checkpoint;
  for (Worker& rank : ranks_) earlier_.push_back(std::move(rank));
  ranks_.clear();
  ++mesh_;
  BW_TRY(StartRanks());
  return checkpoint;
}

Result<void> ReadingJob::CheckEnd() const {
  const bool last = mesh_ == plan_.changes.size();
  const uint64_t end = last ? BW_TRY(stream_.log().ReadNewest()).manifest.next_step.value : plan_.changes[mesh_];
  for (const Worker& rank : ranks_) {
    if (rank.position() == end) continue;
    return Error{ErrorCode::kCorrupt, fmt::format("a rank stopped elsewhere: name={} position={} end={}", rank.name(),
                                                  rank.position(), end)};
  }
  display_.Say(fmt::format("{}: all ranks have stopped at step {}", plan_.group, end));
  return {};
}

Result<std::optional<Step>> ReadingJob::CheckpointIfDue(bool all_ended) {
  uint64_t saved = UINT64_MAX;
  for (const Worker& rank : ranks_) saved = std::min(saved, rank.saved());
  const bool due = saved >= checkpoint_ + plan_.checkpoint_every || (all_ended && saved > checkpoint_);
  if (!due) return std::optional<Step>();
  BW_TRY(session_->Checkpoint(fmt::format("step-{}", saved), Step{saved}));
  checkpoint_ = saved;
  return std::optional(Step{saved});
}

uint64_t ReadingJob::restarts() const {
  return SumOf(ranks_, earlier_, [](const Worker& worker) { return worker.restarts(); });
}
uint64_t ReadingJob::bytes() const {
  return SumOf(ranks_, earlier_, [](const Worker& worker) { return worker.bytes(); });
}
uint64_t ReadingJob::requests() const {
  return SumOf(ranks_, earlier_, [](const Worker& worker) { return worker.requests(); });
}

}  // namespace batchweave::demo
