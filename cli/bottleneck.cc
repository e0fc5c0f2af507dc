#include "cli/bottleneck.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/text.h"

namespace batchweave::cli {
namespace {

// A reader this near to the end of the stream waits for it; one farther behind does not.
constexpr uint64_t kNearEnd = 2;
// What takes this share of the time between two steps is what bounds them.
constexpr double kBoundingShare = 0.5;
// A pause this many times as long as usual, and this long at least, is a stand-still.
constexpr double kStandStill = 10;
constexpr double kStandStillSeconds = 60;

double Seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

// Entries per second between the first and the last of `count`, committed at those times.
double Rate(uint64_t count, int64_t first_ns, int64_t last_ns) {
  return count < 2 || last_ns <= first_ns ? 0 : static_cast<double>(count - 1) / Seconds(last_ns - first_ns);
}

std::vector<ProducerPace> PacesOf(const std::vector<Entry>& entries) {
  struct Seen {
    uint64_t batches = 0;
    int64_t first_ns = 0;
    int64_t last_ns = 0;
  };
  std::map<std::string, Seen> seen;
  for (const Entry& entry : entries) {
    Seen& one = seen[entry.producer];
    if (one.batches++ == 0) one.first_ns = entry.committed_at_ns;
    one.last_ns = entry.committed_at_ns;
  }
  std::vector<ProducerPace> paces;
  for (const auto& [producer, one] : seen) {
    paces.push_back(
        {.producer = producer, .batches = one.batches, .batches_per_s = Rate(one.batches, one.first_ns, one.last_ns)});
  }
  return paces;
}

double MeanBytes(const std::vector<Entry>& entries) {
  double bytes = 0;
  for (const Entry& entry : entries) bytes += static_cast<double>(PayloadBytes(entry));
  return entries.empty() ? 0 : bytes / static_cast<double>(entries.size());
}

// Commits per second, of the entries: those of one version have one time.
double CommitRate(const std::vector<Entry>& entries) {
  uint64_t commits = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    commits += i == 0 || entries[i].committed_at_ns != entries[i - 1].committed_at_ns ? 1 : 0;
  }
  return entries.empty() ? 0 : Rate(commits, entries.front().committed_at_ns, entries.back().committed_at_ns);
}

// What the producing side does with its time.
void TellProducers(const Manifest& manifest, const std::vector<SizeFigures>& figures, Bottleneck& found) {
  found.bound = "producers";
  found.why = "the readers wait for the producers";
  if (figures.empty() || found.steps_per_s <= 0) return;
  const double commit_share = CommitRate(manifest.tail) * Seconds(figures.front().put_p50.count());
  const double upload_seconds = MeanBytes(manifest.tail) / figures.back().put_bytes_per_s;
  const double writers = static_cast<double>(std::max<size_t>(found.producers.size(), 1));
  const double upload_share = upload_seconds * found.steps_per_s / writers;
  if (commit_share >= kBoundingShare) {
    found.bound = "commit";
    found.why +=
        ": commits follow each other as fast as the store takes them; fewer producers in one process, or "
        "larger batches, commit less often";
  } else if (upload_share >= kBoundingShare) {
    found.bound = "upload";
    found.why += ": the store takes their bytes no faster";
  } else {
    found.bound = "preparation";
    found.why +=
        fmt::format(": uploads take about {:.0f} % and commits {:.0f} % of the time, so the rest is preparation",
                    upload_share * 100, commit_share * 100);
  }
}

void TellReaders(const Manifest& manifest, const GroupLead& slowest, const std::vector<SizeFigures>& figures,
                 Bottleneck& found) {
  found.bound = "trainer";
  found.why = fmt::format("{} lie ready for group {}, which reads no faster: the trainer, not the data, sets the pace",
                          Counted(slowest.steps_ahead, "step"), slowest.group);
  if (figures.empty() || found.steps_per_s <= 0) return;
  const double share = MeanBytes(manifest.tail) / figures.back().get_bytes_per_s * found.steps_per_s;
  if (share < 1) return;
  found.bound = "download";
  found.why = fmt::format(
      "{} lie ready for group {}, and one connection to the store cannot read steps as fast as they "
      "are made",
      Counted(slowest.steps_ahead, "step"), slowest.group);
}

}  // namespace

Bottleneck FindBottleneck(const Manifest& manifest, const std::vector<GroupLead>& leads, Duration wall_now,
                          const std::vector<SizeFigures>& figures) {
  Bottleneck found{.seconds_since_commit = {}, .producers = PacesOf(manifest.tail), .bound = "nothing", .why = {}};
  if (manifest.tail.empty()) {
    found.why = "nothing was committed of late";
    return found;
  }
  const std::vector<Entry>& tail = manifest.tail;
  const double since = std::max(0.0, Seconds(wall_now.count() - tail.back().committed_at_ns));
  found.seconds_since_commit = since;
  found.steps_per_s = Rate(tail.size(), tail.front().committed_at_ns, tail.back().committed_at_ns);
  const auto slowest = std::ranges::max_element(leads, {}, &GroupLead::steps_ahead);
  if (slowest != leads.end() && slowest->steps_ahead > kNearEnd) {
    TellReaders(manifest, *slowest, figures, found);
  } else if (manifest.sealed) {
    found.why = "the stream is sealed, and its groups have read it";
  } else if (since > kStandStillSeconds && since * found.steps_per_s > kStandStill) {
    found.bound = "producers";
    found.why = fmt::format("no commit for {:.0f} s: the producers stand still", since);
  } else if (slowest != leads.end()) {
    TellProducers(manifest, figures, found);
  } else {
    found.why = "no group reads it, so nobody is seen to wait";
  }
  return found;
}

}  // namespace batchweave::cli
