#include "sim/scale/tally.h"

#include <algorithm>
#include <chrono>

namespace batchweave::sim {
namespace {

// A producer with data pending that is not served for so long starves.
constexpr Duration kStarving = std::chrono::seconds(60);

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

double Quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1, static_cast<size_t>(share * static_cast<double>(sorted.size())))];
}

}  // namespace

Tally::Tally(const Scenario& scenario, const Scheduler& scheduler)
    : scheduler_(scheduler),
      from_(scenario.warmup),
      until_(scenario.warmup + scenario.window),
      sources_(scenario.producers) {}

bool Tally::InWindow() const { return scheduler_.now() >= from_ && scheduler_.now() < until_; }

void Tally::OnUpload(size_t producer, uint64_t seq) {
  Source& source = sources_[producer];
  if (source.pending.empty()) source.waits_since = scheduler_.now();
  source.pending[seq] = {.uploaded_at = scheduler_.now(), .counts = InWindow()};
  source.offered += InWindow() ? 1 : 0;
  offered_ += InWindow() ? 1 : 0;
}

void Tally::Waited(Source& source) {
  source.longest_wait = std::max(source.longest_wait, scheduler_.now() - std::max(source.waits_since, from_));
}

void Tally::OnCommit(const std::vector<Entry>& entries) {
  commits_ += InWindow() ? 1 : 0;
  for (const Entry& entry : entries) {
    const std::optional<size_t> index = LabProducerIndex(entry.producer);
    if (!index) continue;
    Source& source = sources_[*index];
    const auto batch = source.pending.find(entry.seq);
    if (batch == source.pending.end()) continue;
    in_window_ += InWindow() ? 1 : 0;
    if (batch->second.counts) {
      staleness_s_.push_back(Seconds(scheduler_.now() - batch->second.uploaded_at));
      Lateness& lateness = source.hurried ? of_hurried_ : of_others_;
      lateness.batches += 1;
      lateness.late += scheduler_.now() - batch->second.uploaded_at > kHurriedStaleness ? 1 : 0;
      source.committed += 1;
      committed_ += 1;
    }
    Waited(source);
    source.pending.erase(batch);
    source.waits_since = scheduler_.now();
  }
}

void Tally::OnKill(size_t producer) {
  Source& source = sources_[producer];
  if (!source.pending.empty()) Waited(source);
  const auto counted = static_cast<uint64_t>(
      std::ranges::count_if(source.pending, [](const auto& batch) { return batch.second.counts; }));
  source.offered -= counted;
  offered_ -= counted;
  source.pending.clear();
}

void Tally::End() {
  for (Source& source : sources_) {
    if (!source.pending.empty()) Waited(source);
    // What was never committed waits at least so long: left out, a law that starves producers would look fast.
    for (const auto& [seq, batch] : source.pending) {
      if (batch.counts) staleness_s_.push_back(Seconds(scheduler_.now() - batch.uploaded_at));
    }
  }
}

void Tally::FillIn(ScaleRow& row) {
  std::ranges::sort(staleness_s_);
  row.staleness_p50_s = Quantile(staleness_s_, 0.5);
  row.staleness_p99_s = Quantile(staleness_s_, 0.99);
  row.ingest_ratio = offered_ == 0 ? 1 : static_cast<double>(committed_) / static_cast<double>(offered_);
  double sum = 0;
  double squares = 0;
  double count = 0;
  std::vector<double> waits_s;
  for (const Source& source : sources_) {
    if (!source.excused) {
      if (source.offered > 0) waits_s.push_back(Seconds(source.longest_wait));
      row.starved += source.longest_wait >= kStarving ? 1 : 0;
      row.longest_wait_s = std::max(row.longest_wait_s, Seconds(source.longest_wait));
    }
    if (source.offered == 0) continue;
    const double share = static_cast<double>(source.committed) / static_cast<double>(source.offered);
    sum += share;
    squares += share * share;
    count += 1;
  }
  std::ranges::sort(waits_s);
  row.median_wait_s = Quantile(waits_s, 0.5);
  row.late_share = of_hurried_.batches > 0 ? of_hurried_.share() : of_others_.share();
  row.jain = squares == 0 ? 0 : sum * sum / (count * squares);
}

}  // namespace batchweave::sim
