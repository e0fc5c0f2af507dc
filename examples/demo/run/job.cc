#include "examples/demo/run/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "batchweave/lifecycle/reclaim.h"

namespace batchweave::demo {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(50);
// Ten times what it takes on a machine of two slow cores.
constexpr Duration kRunMax = std::chrono::minutes(15);
constexpr size_t kBarWidth = 12;  // All fits in 80 columns.

// What is held, and which group has the oldest of it.
std::string HeldText(const Manifest& manifest) {
  const auto holder = std::ranges::min_element(manifest.groups, {}, &GroupRow::smallest_held);
  if (holder == manifest.groups.end()) return "nothing is held";
  return fmt::format("{} holds step {} and all after it", holder->name, holder->smallest_held.value);
}

uint64_t PaceOf(const ReadingPlan& plan, uint64_t step_ms) {
  return static_cast<uint64_t>(plan.slowness * static_cast<double>(step_ms));
}

}  // namespace

Job::Job(Stream& stream, const Commands& commands, Display& display, JobSettings settings)
    : stream_(stream),
      commands_(commands),
      display_(display),
      settings_(std::move(settings)),
      readings_{ReadingJob(stream, commands, display, settings_.plan.train, settings_.plan.kills,
                           PaceOf(settings_.plan.train, settings_.step_ms)),
                ReadingJob(stream, commands, display, settings_.plan.eval, settings_.plan.kills,
                           PaceOf(settings_.plan.eval, settings_.step_ms))},
      kills_(settings_.plan.kills) {}

Result<JobOutcome> Job::Run() {
  BW_TRY(Start());
  const TimePoint deadline = After(clock().Now(), kRunMax);
  while (!std::ranges::all_of(readings_, &ReadingJob::over)) {
    BW_TRY(WatchStream());
    BW_TRY(TendProducers());
    BW_TRY(TendReadings());
    CarryOutKills();
    display_.Show(LiveLines());
    if (clock().Now() > deadline) return Error{ErrorCode::kStalled, "the demo takes far too long: see its logs"};
    clock().SleepUntil(After(clock().Now(), kTick));
  }
  display_.Show({});
  if (!kills_.empty()) {
    return Error{ErrorCode::kCorrupt, fmt::format("{} was to be killed at {}, and ended before: the stream is too "
                                                  "short for the plan",
                                                  kills_.front().worker, kills_.front().at)};
  }
  BW_TRY(WatchStream());
  Finish();
  return outcome_;
}

Result<void> Job::Start() {
  began_ = display_.seconds();
  newest_ = BW_TRY(stream_.log().ReadNewest());
  for (uint32_t part = 0; part < settings_.producers; ++part) {
    producers_.emplace_back(commands_.Producer(part, settings_.step_ms * settings_.producers), clock(),
                            KilledAt(settings_.plan.kills, ProducerName(part)));
    BW_TRY(producers_.back().Start());
  }
  display_.Say(fmt::format("{} producers start, each with two workers that make one batch in ten", producers_.size()));
  for (ReadingJob& job : readings_) BW_TRY(job.Start());
  return {};
}

Result<void> Job::WatchStream() {
  const Step seen = newest_.manifest.next_step;
  newest_ = BW_TRY(stream_.log().Refresh(std::move(newest_)));
  const Manifest& manifest = newest_.manifest;
  const uint64_t fresh = std::min<uint64_t>(manifest.next_step.value - seen.value, manifest.tail.size());
  for (size_t i = manifest.tail.size() - fresh; i < manifest.tail.size(); ++i) {
    samples_ += manifest.tail[i].samples;
    outcome_.steps_in_parts += manifest.tail[i].parts.size() > 1 ? 1 : 0;
  }
  return {};
}

Result<void> Job::TendProducers() {
  for (Worker& producer : producers_) {
    for (const ProgressReport& report : BW_TRY(producer.Observe())) {
      if (report.event != ProgressReport::Event::kBegin || producer.restarts() == 0) continue;
      display_.Say(fmt::format("{} is back: the stream says that {} batches of it are committed, it goes on there",
                               producer.name(), report.at));
    }
  }
  if (!std::ranges::all_of(producers_, &Worker::ended) || newest_.manifest.sealed) return {};
  const Step end = BW_TRY(stream_.Seal());
  BW_TRY(WatchStream());
  display_.Say(fmt::format("all is published: the stream is sealed, and ends after step {}", end.value - 1));
  return {};
}

Result<void> Job::TendReadings() {
  for (ReadingJob& job : readings_) {
    const std::optional<Step> checkpoint = BW_TRY(job.Tend());
    if (checkpoint.has_value()) BW_TRY(ReclaimAfter(job, *checkpoint));
  }
  return {};
}

Result<void> Job::ReclaimAfter(const ReadingJob& job, Step checkpoint) {
  ++outcome_.checkpoints;
  // One that is stopped or fails is simply run again, after the next checkpoint.
  const ReclaimReport report = BW_TRY(Reclaim(stream_.log(), {.overwrite_probed = outcome_.checkpoints > 1}));
  outcome_.reclaimed_objects += report.objects;
  outcome_.reclaimed_bytes += report.bytes;
  BW_TRY(WatchStream());
  const std::string reclaimed = report.objects == 0 ? "" : fmt::format("; {} reclaimed", HumanSize(report.bytes));
  display_.Say(fmt::format("{}: checkpoint at step {}; {}{}", job.group(), checkpoint.value, HeldText(newest_.manifest),
                           reclaimed));
  return {};
}

void Job::CarryOutKills() {
  std::erase_if(kills_, [&](const Kill& kill) { return CarryOut(kill); });
}

bool Job::CarryOut(const Kill& kill) {
  const auto is_there = [&](const Worker& worker) {
    return worker.name() == kill.worker && worker.position() >= kill.at && worker.state() == Worker::State::kRunning;
  };
  for (ReadingJob& job : readings_) {
    for (Worker& rank : job.ranks()) {
      if (!is_there(rank)) continue;
      rank.Kill(settings_.restart_after);
      display_.Say(fmt::format("kill -9 {}, at step {}", rank.name(), rank.position()));
      return true;
    }
  }
  for (Worker& producer : producers_) {
    if (!is_there(producer)) continue;
    producer.Kill(settings_.restart_after);
    display_.Say(fmt::format("kill -9 {}, after {} batches, at step {} of the stream", producer.name(),
                             producer.position(), newest_.manifest.next_step.value));
    return true;
  }
  return false;
}

void Job::Finish() {
  const Manifest& manifest = newest_.manifest;
  outcome_.steps = manifest.next_step.value;
  outcome_.first_step = manifest.first_step.value;
  outcome_.versions = manifest.version.value;
  for (const Worker& producer : producers_) outcome_.restarts += producer.restarts();
  for (const ReadingJob& job : readings_) {
    outcome_.restarts += job.restarts();
    outcome_.bytes += job.bytes();
    outcome_.requests += job.requests();
  }
}

std::vector<std::string> Job::LiveLines() const {
  const Manifest& manifest = newest_.manifest;
  const double seconds = std::max(display_.seconds() - began_, 0.1);
  std::string producers;
  double share = 0;
  for (const Worker& producer : producers_) {
    share += producer.share() / static_cast<double>(producers_.size());
    const bool down = producer.state() == Worker::State::kKilled;
    producers +=
        fmt::format("  {} {}", producer.name(), down ? " down" : fmt::format("{:3.0f} %", producer.share() * 100));
  }
  uint64_t bytes = 0;
  std::vector<std::string> readings;
  for (const ReadingJob& job : readings_) {
    bytes += job.bytes();
    std::string ranks;
    for (const Worker& rank : job.ranks()) {
      ranks += rank.state() == Worker::State::kKilled ? "  down" : fmt::format("  {:>4}", rank.position());
    }
    readings.push_back(fmt::format("  {}, {}:{}", job.group(), ToString(job.mesh()), ranks));
  }
  std::vector<std::string> lines = {
      fmt::format("{} {:3.0f} %  step {}  {} of {} samples  {} read  {:.1f} steps/s", Bar(share, kBarWidth),
                  share * 100, manifest.next_step.value, samples_, settings_.samples, HumanSize(bytes),
                  static_cast<double>(manifest.next_step.value) / seconds),
      fmt::format("  producers:       {}", producers)};
  lines.insert(lines.end(), readings.begin(), readings.end());
  lines.push_back(
      fmt::format("  storage:           {}; {} reclaimed", HeldText(manifest), HumanSize(outcome_.reclaimed_bytes)));
  return lines;
}

}  // namespace batchweave::demo
