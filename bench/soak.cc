// The benchmark `soak`: everything at once, in processes that are killed and come back, and what is left of it.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "batchweave/base/random.h"
#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "batchweave/testing/seeded_random.h"
#include "bench/benchmark.h"
#include "bench/measure.h"
#include "bench/soak/audit.h"
#include "bench/soak/batches.h"
#include "bench/soak/folder.h"
#include "bench/soak/part_worker.h"
#include "bench/soak/process.h"
#include "bench/soak/quarantiner.h"
#include "bench/soak/roles.h"
#include "bench/soak/task_producer.h"
#include "bench/workspace.h"

namespace batchweave::bench {
namespace {

constexpr uint64_t kSeed = 4;
constexpr uint64_t kStepsPerSecond = 30;  // Of all producers together: what two busy cores carry.
constexpr Duration kTick = std::chrono::milliseconds(100);
constexpr Duration kSampleEvery = std::chrono::seconds(1);
constexpr Duration kKillPauseMax = std::chrono::seconds(1);
constexpr int kKillsMin = 20;  // Where the time allows no pauses that long.
// One of so many is stopped for a while instead: through commits, trims and reclaims of the others.
constexpr uint64_t kPauseOneOf = 4;
constexpr Duration kPausedMax = std::chrono::seconds(20);
constexpr Duration kSettleTime = std::chrono::minutes(1);
// For those that are left to finish once everyone was told to, on a machine that does other things too.
constexpr Duration kEndTimeMin = std::chrono::minutes(2);

constexpr uint64_t kCheckpointEvery = 50;
constexpr Duration kEvaluatorSlowed = std::chrono::milliseconds(50);

// Some producers wait for their readers: the evaluator falls behind those that do not.
constexpr size_t kLimitedOneOf = 3;
constexpr uint64_t kLeadStepsMax = 200;
constexpr Duration kTaskPeriod = std::chrono::milliseconds(200);

// Processes that live and die together: a job's ranks, or one alone.
struct Unit {
  std::string name{};
  std::function<Result<void>(size_t process, uint64_t life)> body{};
  size_t size = 1;
  uint64_t life = 0;
  bool done = false;
  TimePoint goes_on_at = kForever;  // While it is stopped.
  std::vector<std::unique_ptr<SoakProcess>> processes{};
};

struct Crew {
  size_t trainers = 0;  // Ranks of the trainer, and
  size_t evaluators = 0;
  size_t reclaimers = 0;
  size_t workers = 0;
  size_t task_runners = 0;
  size_t quarantiners = 0;
  size_t producers = 0;
  size_t size() const { return trainers + evaluators + reclaimers + workers + task_runners + quarantiners + producers; }
};

Crew CrewOf(uint64_t processes) {
  Crew crew{.trainers = 2, .evaluators = 1, .reclaimers = 1, .workers = 1, .task_runners = 1, .quarantiners = 1};
  if (processes >= 50) {
    crew = {.trainers = 16, .evaluators = 4, .reclaimers = 3, .workers = 3, .task_runners = 3, .quarantiners = 1};
  }
  crew.producers = std::max<size_t>(processes, crew.size() + 1) - crew.size();
  return crew;
}

// Ranks share dp first; 16 of them fill the grid.
MeshRank MeshOf(size_t rank, size_t ranks) {
  const auto dp_size = static_cast<uint32_t>(std::min<size_t>(ranks, 8));
  return {.dp_rank = static_cast<uint32_t>(rank) % dp_size,
          .dp_size = dp_size,
          .cp_rank = static_cast<uint32_t>(rank) / dp_size,
          .cp_size = std::max<uint32_t>(static_cast<uint32_t>(ranks) / dp_size, 1)};
}

class Soak {
 public:
  Soak(std::string folder, Crew crew, Duration time)
      : folder_(std::move(folder)), crew_(crew), time_(time), random_(kSeed) {}

  Result<void> Run();
  Result<Report> MakeReport();

 private:
  void AddUnits();
  void AddJob(const std::string& group, size_t ranks, Duration slowed);
  void Start(Unit& unit);
  void KillAndRestart(Unit& unit);
  void Watch(Unit& unit);
  void Retire(Unit& unit);
  void KillOrPauseOne();
  Result<void> Tend(const std::string& until_done, TimePoint deadline);
  bool AreDone(const std::string& name) const;

  const SoakFolder folder_;
  const Crew crew_;
  const Duration time_;
  SystemClock clock_;
  SeededRandom random_;
  std::vector<Unit> units_;
  std::vector<AuditedRank> ranks_;
  TimePoint next_sample_{};
  uint64_t kills_ = 0;     // Processes killed,
  uint64_t pauses_ = 0;    // stopped for a while,
  uint64_t restarts_ = 0;  // started again, for whatever reason,
  uint64_t failed_ = 0;    // that ended with an error that a restart mends,
  uint64_t broken_ = 0;    // or with any other.
  uint64_t sampled_ = 0;   // Whose memory was watched.
  uint64_t growth_kib_ = 0;
};

void Soak::AddJob(const std::string& group, size_t ranks, Duration slowed) {
  units_.push_back({.name = "rank",
                    .body =
                        [=, this](size_t rank, uint64_t life) {
                          return RunSoakRank(folder_, {.group = group,
                                                       .mesh = MeshOf(rank, ranks),
                                                       .rank = rank,
                                                       .ranks = ranks,
                                                       .life = life,
                                                       .checkpoint_every = kCheckpointEvery,
                                                       .slowed = slowed});
                        },
                    .size = ranks});
  for (size_t rank = 0; rank < ranks; ++rank) ranks_.push_back({.group = group, .rank = rank});
}

void Soak::AddUnits() {
  AddJob("trainer", crew_.trainers, {});
  AddJob("evaluator", crew_.evaluators, kEvaluatorSlowed);
  const Duration period = Duration(std::chrono::seconds(crew_.producers)) / kStepsPerSecond;
  for (size_t i = 0; i < crew_.producers; ++i) {
    const ProducerTask task{
        .number = i, .period = period, .max_lead_steps = i % kLimitedOneOf == 0 ? kLeadStepsMax : 0};
    units_.push_back(
        {.name = "producer", .body = [=, this](size_t, uint64_t) { return RunSoakProducer(folder_, task); }});
  }
  const auto add = [&](const std::string& name, size_t count, const std::function<Result<void>(size_t)>& body) {
    for (size_t i = 0; i < count; ++i) {
      units_.push_back({.name = name, .body = [=](size_t, uint64_t) { return body(i); }});
    }
  };
  add("producer", crew_.task_runners, [this](size_t i) { return RunSoakTasks(folder_, i, kTaskPeriod); });
  add("quarantiner", crew_.quarantiners, [this](size_t) { return RunSoakQuarantiner(folder_, kCheckpointEvery); });
  add("worker", crew_.workers, [this](size_t) { return RunSoakWorker(folder_); });
  add("reclaimer", crew_.reclaimers, [this](size_t) { return RunSoakReclaimer(folder_); });
}

void Soak::Start(Unit& unit) {
  const uint64_t life = ++unit.life;
  const TimePoint settled_at = After(clock_.Now(), std::min(kSettleTime, time_ / 5));
  for (size_t i = 0; i < unit.size; ++i) {
    unit.processes.push_back(
        std::make_unique<SoakProcess>([&unit, i, life] { return unit.body(i, life); }, settled_at));
  }
}

void Soak::Retire(Unit& unit) {
  unit.goes_on_at = kForever;
  for (const auto& process : unit.processes) {
    process->Kill();
    growth_kib_ = std::max(growth_kib_, process->growth_kib());
    if (process->was_sampled()) sampled_ += 1;
  }
  unit.processes.clear();
}

void Soak::KillAndRestart(Unit& unit) {
  Retire(unit);
  restarts_ += unit.size;
  Start(unit);
}

// A job whose rank ended too early begins anew, as a launcher of training jobs has it.
void Soak::Watch(Unit& unit) {
  if (unit.done) return;
  if (clock_.Now() >= unit.goes_on_at) {
    for (const auto& process : unit.processes) process->GoOn();
    unit.goes_on_at = kForever;
  }
  bool failed = false;
  size_t done = 0;
  for (const auto& process : unit.processes) {
    const Ending ending = process->Poll();
    if (ending == Ending::kDone) done += 1;
    if (ending == Ending::kFailed) failed_ += 1;
    if (ending == Ending::kBroken) broken_ += 1;
    failed = failed || ending == Ending::kFailed || ending == Ending::kBroken;
  }
  if (failed) KillAndRestart(unit);
  if (done != unit.size) return;
  unit.done = true;
  Retire(unit);
}

void Soak::KillOrPauseOne() {
  Unit& unit = units_[random_.Next() % units_.size()];
  if (unit.done) return;
  if (random_.Next() % kPauseOneOf == 0) {
    pauses_ += unit.size;
    for (const auto& process : unit.processes) process->Pause();
    unit.goes_on_at =
        After(clock_.Now(), std::chrono::duration_cast<Duration>(NextUnit(random_) * std::min(kPausedMax, time_ / 5)));
    return;
  }
  kills_ += unit.size;
  KillAndRestart(unit);
}

bool Soak::AreDone(const std::string& name) const {
  return std::ranges::all_of(units_, [&](const Unit& unit) { return unit.done || unit.name != name; });
}

// Looks after all processes, until those of one name are done.
Result<void> Soak::Tend(const std::string& until_done, TimePoint deadline) {
  while (!AreDone(until_done)) {
    const TimePoint now = clock_.Now();
    if (now >= deadline) return Error{ErrorCode::kStalled, "processes do not come to their end: role=" + until_done};
    for (Unit& unit : units_) {
      Watch(unit);
      if (now < next_sample_) continue;
      for (const auto& process : unit.processes) process->Sample(now);
    }
    if (now >= next_sample_) next_sample_ = After(now, kSampleEvery);
    clock_.SleepUntil(After(now, kTick));
  }
  return {};
}

Result<void> Soak::Run() {
  AddUnits();
  for (Unit& unit : units_) Start(unit);
  const TimePoint end = After(clock_.Now(), time_);
  const Duration pause = std::min<Duration>(kKillPauseMax, time_ / kKillsMin);
  for (TimePoint next_kill = After(clock_.Now(), pause); clock_.Now() < end; next_kill = After(next_kill, pause)) {
    // Reclaimers do not end by themselves: so it is the deadline that ends this.
    const Result<void> tended = Tend("reclaimer", std::min(next_kill, end));
    if (!FailedWith(tended, ErrorCode::kStalled)) return tended;
    if (clock_.Now() < end) KillOrPauseOne();
  }
  const auto deadline = [&] { return After(clock_.Now(), kEndTimeMin + time_); };
  BW_TRY(folder_.Raise(kStopSign));
  BW_TRY(Tend("producer", deadline()));
  BW_TRY(Tend("quarantiner", deadline()));
  {
    const auto owned = BW_TRY(OpenEnv(folder_.store(), {.durability = Durability::kNone}));
    Stream stream = BW_TRY(Stream::Open(owned->env(), kSoakStream));
    BW_TRY(stream.Seal());
  }
  BW_TRY(Tend("rank", deadline()));
  BW_TRY(folder_.Raise(kEndSign));
  BW_TRY(Tend("worker", deadline()));
  return Tend("reclaimer", deadline());
}

Result<Report> Soak::MakeReport() {
  const auto owned = BW_TRY(OpenEnv(folder_.store(), {.durability = Durability::kNone}));
  Stream stream = BW_TRY(Stream::Open(owned->env(), kSoakStream));
  const SoakAudit audit =
      BW_TRY(AuditSoak(stream, folder_, ranks_, {.producers = crew_.producers, .task_runners = crew_.task_runners}));
  const auto count = [](std::string key, uint64_t value, std::string meaning) {
    return Figure{
        .key = std::move(key), .value = static_cast<double>(value), .target = {}, .meaning = std::move(meaning)};
  };
  const auto at_most = [](double limit) { return Target{.kind = Target::Kind::kAtMost, .limit = limit}; };
  Report report{count("processes", crew_.size(), "at once"),
                count("kills", kills_, "of processes, by SIGKILL"),
                count("pauses", pauses_, "of processes, by SIGSTOP"),
                count("restarts", restarts_, "of processes, the killed ones included"),
                count("failures", failed_, "processes that ended because the store or the machine was slow"),
                count("steps", audit.steps, "published, and read by every rank"),
                count("sampled", sampled_, "processes that lived long enough for their memory to be watched")};
  report.push_back({.key = "rss_growth_mib",
                    .value = static_cast<double>(growth_kib_) / 1024,
                    .target = at_most(16),
                    .meaning = "resident memory over that after its first minute, the worst process"});
  report.push_back({.key = "leaked_bytes",
                    .value = static_cast<double>(audit.leaked_bytes),
                    .target = at_most(0),
                    .meaning = "stored and not reached, after a quiet reclaim"});
  report.push_back(
      {.key = "violations",
       .value = static_cast<double>(audit.violations + broken_),
       .target = at_most(0),
       .meaning = "findings of a deep verify, batches lost, doubled or out of order, processes that broke"});
  return report;
}

}  // namespace

Result<Report> RunSoak(const Settings& settings) {
  const Workspace workspace = BW_TRY(Workspace::Make(settings.folder));
  const std::string store = BW_TRY(workspace.Fresh("store"));
  {
    const auto owned = BW_TRY(OpenEnv(store, {.durability = Durability::kNone}));
    Stream stream = BW_TRY(Stream::Create(owned->env(), kSoakStream));
    for (const char* group : {"trainer", "evaluator"}) BW_TRY(stream.CreateGroup(group, Step{0}));
  }
  Announce("processes that are killed and come back");
  Soak soak(workspace.path(), CrewOf(settings.processes), settings.time_max);
  BW_TRY(soak.Run());
  Announce("what they left");
  return soak.MakeReport();
}

}  // namespace batchweave::bench
