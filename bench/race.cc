// The benchmark `race`: many processes commit to one stream in one directory, by the law that users get and by fixed
// intervals, in turns.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "batchweave/base/check.h"
#include "batchweave/base/random.h"
#include "batchweave/producer/combining_law.h"
#include "batchweave/producer/producer_host.h"
#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "batchweave/testing/child_process.h"
#include "batchweave/testing/fixed_law.h"
#include "bench/benchmark.h"
#include "bench/measure.h"
#include "bench/sample_stream.h"
#include "bench/workspace.h"

namespace batchweave::bench {
namespace {

constexpr size_t kProcessesMax = 1024;

// A source that does not run ahead of its commits: so many batches, and all must be committed before the next.
constexpr uint64_t kBurst = 4;
constexpr BatchShape kShape{.grid = {.dp = 1, .cp = 1}, .slice_bytes = 1024};

// From an attempt's length to as long as anyone would let a trainer wait. 0 stands for the law that users get.
constexpr std::array<Duration, 7> kIntervals = {Duration{},
                                                std::chrono::milliseconds(10),
                                                std::chrono::milliseconds(30),
                                                std::chrono::milliseconds(100),
                                                std::chrono::milliseconds(300),
                                                std::chrono::milliseconds(1000),
                                                std::chrono::milliseconds(3000)};

// What one process reports of one heat.
struct Score {
  uint64_t batches = 0;  // Committed before the heat was over.
  Duration longest_wait{};
  uint64_t commits = 0;
  uint64_t commits_lost = 0;
};

// Shared by the processes of a heat.
struct Board {
  std::atomic<size_t> ready;
  std::atomic<Duration::rep> begins_at;  // By the clock that all processes of a machine share; 0: not yet.
  std::array<Score, kProcessesMax> scores;
};

class SharedBoard {
 public:
  SharedBoard() : board_(Map()) {}
  ~SharedBoard() { munmap(board_, sizeof(Board)); }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;
  Board* operator->() const { return board_; }

 private:
  static Board* Map() {
    void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    BW_CHECK(memory != MAP_FAILED);
    return new (memory) Board{};
  }
  Board* const board_;
};

struct Heat {
  std::string folder;
  Duration interval{};  // 0: the law that users get.
  size_t processes = 0;
  Duration length{};
};

std::unique_ptr<CommitLaw> MakeLaw(Duration interval) {
  if (interval == Duration{}) return std::make_unique<CombiningLaw>();
  return std::make_unique<FixedLaw>(interval);
}

// One process: opens, waits for the others, and publishes bursts until the heat is over.
Result<void> Compete(const Heat& heat, const SharedBoard& board, size_t index) {
  const auto owned = BW_TRY(OpenEnv(heat.folder));
  const Env env = owned->env();
  Stream stream = BW_TRY(Stream::Open(env, "race"));
  ProducerHost host(env, stream.log(), MakeLaw(heat.interval));
  Producer producer = BW_TRY(host.Open(fmt::format("racer-{:04}", index), {}));
  const SamplePayload payload(env.random, kShape);
  board->ready.fetch_add(1);
  while (board->begins_at == 0) env.clock.SleepUntil(After(env.clock.Now(), std::chrono::milliseconds(1)));
  const TimePoint ends_at = After(TimePoint(Duration(board->begins_at)), heat.length);
  Score& score = board->scores[index];
  for (TimePoint began = env.clock.Now(); began < ends_at;) {
    BW_TRY(PublishSteps(producer, payload, kBurst));
    const TimePoint ended = env.clock.Now();
    if (ended <= ends_at) score.batches += kBurst;
    score.longest_wait = std::max(score.longest_wait, ended - began);
    began = ended;
  }
  const ProducerStats stats = producer.stats();
  score.commits = stats.commits;
  score.commits_lost = stats.commits_lost;
  return {};
}

// All scores of one heat in one.
struct Outcome {
  double batches_per_s = 0;
  double longest_wait_s = 0;
  double attempts_per_commit = 0;
  uint64_t starved = 0;
};

Outcome SumUp(std::span<const Score> scores, Duration length) {
  Outcome sum;
  uint64_t batches = 0;
  uint64_t commits = 0;
  uint64_t lost = 0;
  for (const Score& score : scores) {
    batches += score.batches;
    commits += score.commits;
    lost += score.commits_lost;
    sum.longest_wait_s = std::max(sum.longest_wait_s, Seconds(score.longest_wait));
    if (score.batches == 0) ++sum.starved;
  }
  sum.batches_per_s = static_cast<double>(batches) / Seconds(length);
  sum.attempts_per_commit = static_cast<double>(commits + lost) / static_cast<double>(std::max<uint64_t>(commits, 1));
  return sum;
}

Result<Outcome> RunHeat(const Workspace& workspace, Heat heat) {
  heat.folder = BW_TRY(workspace.Fresh("heat"));
  SystemClock clock;
  {
    const auto owned = BW_TRY(OpenEnv(heat.folder));
    BW_TRY(Stream::Create(owned->env(), "race"));
  }
  const SharedBoard board;
  std::vector<std::unique_ptr<ChildProcess>> racers;
  for (size_t i = 0; i < heat.processes; ++i) {
    racers.push_back(std::make_unique<ChildProcess>([&, i] {
      const Result<void> result = Compete(heat, board, i);
      if (!result.ok()) fmt::print(stderr, "race: a process ended: {}\n", ToString(result.error()));
      if (!result.ok()) board->ready.fetch_add(1);
      return result.ok();
    }));
  }
  while (board->ready < heat.processes) clock.SleepUntil(After(clock.Now(), std::chrono::milliseconds(1)));
  board->begins_at = clock.Now().time_since_epoch().count();
  bool all_well = true;
  for (const auto& racer : racers) all_well = racer->Wait() && all_well;
  workspace.Remove("heat");
  if (!all_well) return Error{ErrorCode::kUnavailable, "a process of the race failed"};
  return SumUp(std::span(board->scores).first(heat.processes), heat.length);
}

using Field = double Outcome::*;

// Of the heats of one interval.
double MedianOf(const std::vector<Outcome>& heats, Field field) {
  std::vector<double> values;
  for (const Outcome& heat : heats) values.push_back(heat.*field);
  return Median(values);
}

// The median of the rounds' ratios: both heats of a round met the machine in about the same state.
double RatioOf(const std::vector<Outcome>& heats, const std::vector<Outcome>& others, Field field) {
  std::vector<double> ratios;
  for (size_t round = 0; round < heats.size(); ++round) ratios.push_back(heats[round].*field / others[round].*field);
  return Median(ratios);
}

}  // namespace

Result<Report> RunRace(const Settings& settings) {
  if (settings.processes < 2 || settings.processes > kProcessesMax) {
    return Error{ErrorCode::kInvalidArgument, fmt::format("--processes is from 2 to {}", kProcessesMax)};
  }
  const Workspace workspace = BW_TRY(Workspace::Make(settings.folder));
  const size_t rounds = std::clamp<size_t>(settings.rounds_max, 1, kRoundsMin);
  Heat heat{.folder = {}, .processes = settings.processes};
  heat.length = std::max<Duration>(settings.time_max / static_cast<int64_t>(rounds * kIntervals.size()),
                                   std::chrono::milliseconds(200));
  std::array<std::vector<Outcome>, kIntervals.size()> outcomes;
  for (size_t round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < kIntervals.size(); ++i) {
      heat.interval = kIntervals[i];
      Announce(fmt::format("round {} of {}: {}", round + 1, rounds,
                           i == 0 ? "the law that users get" : fmt::format("every {} s", Seconds(heat.interval))));
      outcomes[i].push_back(BW_TRY(RunHeat(workspace, heat)));
    }
  }
  const auto is_slower = [](const std::vector<Outcome>& a, const std::vector<Outcome>& b) {
    return MedianOf(a, &Outcome::batches_per_s) < MedianOf(b, &Outcome::batches_per_s);
  };
  const std::vector<Outcome>& ours = outcomes[0];
  const auto fastest = std::max_element(outcomes.begin() + 1, outcomes.end(), is_slower);
  uint64_t starved = 0;
  for (const Outcome& outcome : ours) starved += outcome.starved;
  Report report{
      {.key = "throughput_ratio_vs_fixed",
       .value = RatioOf(ours, *fastest, &Outcome::batches_per_s),
       .target = Target{.kind = Target::Kind::kAtLeast, .limit = 0.95},
       .meaning = "batches committed a second over those at the fastest fixed interval"},
      {.key = "longest_wait_ratio_vs_fixed",
       .value = RatioOf(ours, *fastest, &Outcome::longest_wait_s),
       .target = Target{.kind = Target::Kind::kAtMost, .limit = 1},
       .meaning = "the longest that any process waited for a burst, over the same at that interval"},
      {.key = "attempts_per_commit",
       .value = MedianOf(ours, &Outcome::attempts_per_commit),
       .target = Target{.kind = Target::Kind::kAtMost, .limit = 2.5},
       .meaning = "manifests sent over versions committed"},
      {.key = "starved",
       .value = static_cast<double>(starved),
       .target = Target{.kind = Target::Kind::kExactly, .limit = 0},
       .meaning = "processes of which a whole heat committed nothing"},
      {.key = "fastest_interval_s",
       .value = Seconds(kIntervals[static_cast<size_t>(fastest - outcomes.begin())]),
       .target = {},
       .meaning = fmt::format("of fixed intervals; {} rounds of {:.1f} s each", rounds, Seconds(heat.length))},
  };
  for (size_t i = 0; i < kIntervals.size(); ++i) {
    const std::string suffix = i == 0 ? "" : fmt::format("_every_{}_ms", kIntervals[i] / std::chrono::milliseconds(1));
    report.push_back({.key = "batches_per_s" + suffix,
                      .value = MedianOf(outcomes[i], &Outcome::batches_per_s),
                      .target = {},
                      .meaning = fmt::format("longest wait {:.2f} s, {:.1f} attempts a commit",
                                             MedianOf(outcomes[i], &Outcome::longest_wait_s),
                                             MedianOf(outcomes[i], &Outcome::attempts_per_commit))});
  }
  return report;
}

}  // namespace batchweave::bench
