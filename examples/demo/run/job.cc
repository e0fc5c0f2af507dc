#include "examples/demo/run/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace batchweave::demo {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(50);
// Ten times what it takes on a machine of two slow cores.
constexpr Duration kRunMax = std::chrono::minutes(15);
constexpr size_t kBarWidth = 12;  // All fits in 80 columns.

bool AllEnded(const std::vector<Worker>& workers) {
  return std::ranges::all_of(workers, [](const Worker& worker) { return worker.ended(); });
}

bool IsBack(const Worker& worker, const ProgressReport& report) {
  return report.event == ProgressReport::Event::kBegin && worker.restarts() > 0;
}

}  // namespace

Job::Job(Stream& stream, const Commands& commands, Display& display, JobSettings settings)
    : stream_(stream),
      commands_(commands),
      display_(display),
      settings_(std::move(settings)),
      kills_(settings_.plan.kills) {}

Result<JobOutcome> Job::Run() {
  began_ = display_.seconds();
  newest_ = BW_TRY(stream_.log().ReadNewest());
  BW_TRY(StartProducers());
  BW_TRY(StartRanks());
  const TimePoint deadline = After(clock().Now(), kRunMax);
  while (!over_) {
    BW_TRY(WatchStream());
    BW_TRY(TendProducers());
    BW_TRY(TendRanks());
    CarryOutKills();
    display_.Show(LiveLines());
    if (clock().Now() > deadline) return Error{ErrorCode::kStalled, "the demo takes far too long: see its logs"};
    clock().SleepUntil(After(clock().Now(), kTick));
  }
  display_.Show({});
  Count(producers_);
  if (!kills_.empty()) {
    return Error{ErrorCode::kCorrupt, fmt::format("{} was to be killed at step {}, and ended before: the stream is too "
                                                  "short for the plan",
                                                  kills_.front().worker, kills_.front().step)};
  }
  outcome_.steps = newest_.manifest.next_step.value;
  outcome_.versions = newest_.manifest.version.value;
  return outcome_;
}

Result<void> Job::StartProducers() {
  for (uint32_t part = 0; part < settings_.producers; ++part) {
    producers_.emplace_back(commands_.Producer(part, settings_.pace_ms), clock());
    BW_TRY(producers_.back().Start());
  }
  display_.Say(fmt::format("{} producers start", settings_.producers));
  return {};
}

Result<void> Job::StartRanks() {
  const Plan& plan = settings_.plan;
  Commands::RankPlace place{.mesh = plan.meshes[mesh_]};
  if (mesh_ > 0) place.start_step = plan.changes[mesh_ - 1];
  if (mesh_ < plan.changes.size()) place.end_step = plan.changes[mesh_];
  for (const MeshRank& rank : RanksOf(place.mesh)) {
    place.rank = rank;
    ranks_.emplace_back(commands_.Rank(place), clock());
    BW_TRY(ranks_.back().Start());
  }
  display_.Say(fmt::format("{} ranks start, {}, at step {}", ranks_.size(), ToString(place.mesh), place.start_step));
  return {};
}

Result<void> Job::WatchStream() {
  const Step seen = newest_.manifest.next_step;
  newest_ = BW_TRY(stream_.log().Refresh(std::move(newest_)));
  const Manifest& manifest = newest_.manifest;
  const uint64_t fresh = std::min<uint64_t>(manifest.next_step.value - seen.value, manifest.tail.size());
  for (size_t i = manifest.tail.size() - fresh; i < manifest.tail.size(); ++i) samples_ += manifest.tail[i].samples;
  return {};
}

Result<void> Job::TendProducers() {
  for (Worker& producer : producers_) {
    for (const ProgressReport& report : BW_TRY(producer.Observe())) {
      if (IsBack(producer, report)) {
        display_.Say(fmt::format("{} is back: the stream says that {} batches of it are committed, it goes on there",
                                 producer.name(), report.at));
      }
    }
  }
  if (!AllEnded(producers_) || newest_.manifest.sealed) return {};
  const Step end = BW_TRY(stream_.Seal());
  newest_ = BW_TRY(stream_.log().Refresh(std::move(newest_)));
  display_.Say(fmt::format("all is published: the stream is sealed, and ends after step {}", end.value - 1));
  return {};
}

Result<void> Job::TendRanks() {
  for (Worker& rank : ranks_) {
    for (const ProgressReport& report : BW_TRY(rank.Observe())) {
      if (IsBack(rank, report)) {
        display_.Say(fmt::format("{} is back: its last record says step {}, it goes on there", rank.name(), report.at));
      }
    }
  }
  return AllEnded(ranks_) ? ChangeMesh() : Result<void>();
}

Result<void> Job::ChangeMesh() {
  const Plan& plan = settings_.plan;
  over_ = mesh_ == plan.changes.size();
  const uint64_t end = over_ ? newest_.manifest.next_step.value : plan.changes[mesh_];
  for (const Worker& rank : ranks_) {
    if (rank.position() == end) continue;
    return Error{ErrorCode::kCorrupt, fmt::format("a rank stopped elsewhere: name={} position={} end={}", rank.name(),
                                                  rank.position(), end)};
  }
  display_.Say(fmt::format("all ranks have stopped at step {}", end));
  Count(ranks_);
  if (over_) return {};
  ranks_.clear();
  ++mesh_;
  return StartRanks();
}

void Job::CarryOutKills() {
  const uint64_t step = newest_.manifest.next_step.value;
  const auto carry_out = [&](const Kill& kill) {
    for (Worker& rank : ranks_) {
      if (rank.name() != kill.worker || rank.position() < kill.step || rank.state() != Worker::State::kRunning)
        continue;
      rank.Kill(settings_.restart_after);
      display_.Say(fmt::format("kill -9 {}, at step {}", rank.name(), rank.position()));
      return true;
    }
    for (Worker& producer : producers_) {
      if (producer.name() != kill.worker || step < kill.step || producer.state() != Worker::State::kRunning) continue;
      producer.Kill(settings_.restart_after);
      display_.Say(fmt::format("kill -9 {}, after {} batches, at step {} of the stream", producer.name(),
                               producer.position(), step));
      return true;
    }
    return false;
  };
  std::erase_if(kills_, carry_out);
}

void Job::Count(const std::vector<Worker>& workers) {
  for (const Worker& worker : workers) {
    outcome_.restarts += worker.restarts();
    outcome_.bytes += worker.bytes();
    outcome_.requests += worker.requests();
  }
}

std::vector<std::string> Job::LiveLines() const {
  const Manifest& manifest = newest_.manifest;
  const double seconds = std::max(display_.seconds() - began_, 0.1);
  uint64_t bytes = outcome_.bytes;
  std::string ranks;
  for (const Worker& rank : ranks_) {
    bytes += rank.bytes();
    ranks += rank.state() == Worker::State::kKilled ? "  down" : fmt::format("  {:>4}", rank.position());
  }
  std::string producers;
  double share = 0;
  for (const Worker& producer : producers_) {
    share += producer.share() / static_cast<double>(producers_.size());
    const bool down = producer.state() == Worker::State::kKilled;
    producers +=
        fmt::format("  {} {}", producer.name(), down ? " down" : fmt::format("{:3.0f} %", producer.share() * 100));
  }
  return {fmt::format("{} {:3.0f} %  step {}  {} of {} samples  {} read  {:.1f} steps/s", Bar(share, kBarWidth),
                      share * 100, manifest.next_step.value, samples_, settings_.samples, HumanSize(bytes),
                      static_cast<double>(manifest.next_step.value) / seconds),
          fmt::format("  producers:       {}", producers),
          fmt::format("  ranks, {}:{}", ToString(settings_.plan.meshes[mesh_]), ranks)};
}

}  // namespace batchweave::demo
