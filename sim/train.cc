#include "sim/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace batchweave::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kStallAfter = minutes(2);
constexpr Duration kCommitTime = minutes(2);
// What a checkpoint removes at once, it removes one request after the other here.
constexpr Duration kReclaimTimeAStep = milliseconds(200);
constexpr Duration kCollectiveTime = minutes(10);
// Ranks of a job wait for each other: none is further ahead than this.
constexpr uint64_t kRankLeadMax = 6;

// A checkpoint of the model, durable on every rank; whether the stream knows it may be open.
struct Saved {
  std::string name;
  Step position{};
  bool registered = false;  // The trainer was told so.
  bool pinned = false;
};

// What outlives a run: the model's own checkpoints.
struct Job {
  Step start{};              // Where its group begins.
  std::vector<Saved> saved;  // Oldest first.
  uint64_t names = 0;
};

// One run: the ranks between a (re)start and its end, and what they tell each other.
struct JobRun {
  Step start{};
  uint64_t names = 0;  // Of the job, when the start was chosen.
  MeshRank mesh{};     // dp and cp sizes; the place is each rank's own.
  Session session{};
  std::vector<std::optional<Step>> positions;  // By rank, once it is open.
  std::vector<bool> ended;                     // It read to the end of the stream.
  bool stop = false;
  bool given_up = false;  // Another run has replaced it, and nothing that it does counts for the job any more.

  std::optional<Step> Slowest() const {
    Step slowest = kNothingHeld;
    for (const std::optional<Step>& position : positions) {
      if (!position) return std::nullopt;
      slowest = std::min(slowest, *position);
    }
    return slowest;
  }
  bool AllEnded() const {
    return std::ranges::all_of(ended, [](bool it) { return it; });
  }
};

class RankProgram {
 public:
  RankProgram(World& world, Process& process, const JobPlan& plan, Job& job, std::shared_ptr<JobRun> run, size_t index)
      : world_(world),
        process_(process),
        plan_(plan),
        job_(job),
        run_(std::move(run)),
        index_(index),
        place_(Place()) {}

  void Run() {
    Live();
    // One rank down is a job down.
    if (!run_->given_up && !run_->AllEnded()) run_->stop |= !run_->ended[index_];
  }

 private:
  bool leads() const { return index_ == 0; }
  bool over() const { return process_.dead() || run_->stop; }

  MeshRank Place() const {
    MeshRank place = run_->mesh;
    place.dp_rank = static_cast<uint32_t>(index_ % place.dp_size);
    place.cp_rank = static_cast<uint32_t>(index_ / place.dp_size);
    return place;
  }

  void Live() {
    std::optional<Stream> stream = OpenStream(world_, process_);
    if (!stream) return;
    if (leads() && !OpenSession(*stream)) return;
    AwaitOthers([&] { return run_->session != Session{}; });
    if (over()) return;
    ConsumerOptions options{.position = run_->start,
                            .rank = place_,
                            .group = plan_.group,
                            .session = run_->session,
                            .allow_uneven = plan_.uneven,
                            .prefetch_steps_max = static_cast<uint32_t>(process_.random().Next() % 6),
                            .stall_after = kStallAfter};
    while (!over()) {
      Result<Consumer> consumer =
          world_.Call(process_, "OpenConsumer", kCommitTime, [&] { return stream->OpenConsumer(options); });
      if (consumer.ok()) return Read(*consumer);
      if (!MayTryAgain(consumer.error())) return OnTrimmed(consumer.error());
      SleepFor(process_, seconds(1));
    }
  }

  // The session holds its start until its first checkpoint: while the run goes on, nothing that it reads is trimmed.
  void OnTrimmed(const Error& error) {
    if (error.code != ErrorCode::kTrimmed || process_.dead() || run_->given_up) return;
    const GroupRow* group = FindGroup(world_.ledger().newest(), plan_.group);
    if (group == nullptr || group->session != run_->session) return;  // Replaced, and not told yet.
    world_.Breach("I8", fmt::format("rank {} of {} was told: {}", index_, plan_.group, ToString(error)),
                  process_.name());
  }

  bool OpenSession(Stream& stream) {
    while (!over()) {
      Result<Group> group = world_.Call(process_, "OpenGroup", kCommitTime,
                                        [&] { return stream.OpenGroup(plan_.group, {.start = run_->start}); });
      if (group.ok()) {
        group_.emplace(*std::move(group));
        run_->session = group_->session();
        world_.trace().Add(world_.scheduler().now(), process_.name(), "opened",
                           fmt::format("session {} of {}", run_->session.value, plan_.group),
                           fmt::format("step {}", run_->start.value));
        return !process_.dead();
      }
      // A run that was given up may have registered one more, since it was decided where to go on.
      const bool is_stale = job_.names != run_->names;
      if (FailedWith(group, ErrorCode::kTrimmed) && !process_.dead() && !run_->given_up && !is_stale) {
        world_.Breach("I8",
                      fmt::format("{} was to go on at its checkpoint {}, and was told: {}", plan_.group,
                                  run_->start.value, ToString(group.error())),
                      process_.name());
      }
      if (!MayTryAgain(group.error())) return false;
      SleepFor(process_, seconds(1));
    }
    return false;
  }

  void Read(Consumer& consumer) {
    run_->positions[index_] = consumer.position();
    Step saved = run_->start;
    const std::string name = process_.name();
    while (!over()) {
      Result<std::optional<RankBatch>> next =
          world_.Call(process_, "Next", kStallAfter, [&] { return consumer.Next(); });
      if (process_.dead()) return;
      if (!next.ok()) {
        if (!MayTryAgain(next.error())) return OnTrimmed(next.error());
        // Who waits for data tells again how far it is: those who could send some may be waiting for that.
        if (leads()) Report(consumer.position());
        continue;
      }
      world_.Tell(process_, Delivery{.group = plan_.group,
                                     .session = run_->session,
                                     .rank = name,
                                     .mesh = place_,
                                     .batch = next->has_value() ? &**next : nullptr});
      run_->positions[index_] = consumer.position();
      if (!next->has_value()) {
        run_->ended[index_] = true;
        if (leads()) AwaitOthersAndSave();
        return;
      }
      SleepFor(process_, world_.Exponential(plan_.step_time));
      AwaitOthers([&] {
        const std::optional<Step> slowest = run_->Slowest();
        return slowest && slowest->value + kRankLeadMax >= consumer.position().value;
      });
      if (!leads()) continue;
      Report(consumer.position());
      if (!SaveIfDue(saved)) return;
    }
  }

  void Report(Step position) {
    (void)world_.Call(process_, "ReportProgress", kCommitTime, [&] { return group_->ReportProgress(position); });
  }

  // A collective: who waits in it for too long takes the whole run down.
  void AwaitOthers(const std::function<bool()>& they_are_there) {
    const TimePoint deadline = After(process_.clock().Now(), kCollectiveTime);
    while (!over() && !they_are_there()) {
      if (process_.clock().Now() >= deadline) run_->stop = true;
      SleepFor(process_, milliseconds(500));
    }
  }

  void AwaitOthersAndSave() {
    AwaitOthers([&] { return run_->AllEnded(); });
    if (!over()) Save(*run_->Slowest());
  }

  bool SaveIfDue(Step& saved) {
    const std::optional<Step> slowest = run_->Slowest();
    if (!slowest) return true;
    if (slowest->value < saved.value + plan_.checkpoint_every) return true;
    saved = *slowest;
    return Save(*slowest);
  }

  // Registers a checkpoint, until it is decided. False: this run is at its end.
  bool Save(Step position) {
    Saved saved{.name = fmt::format("save-{}", job_.names++), .position = position, .pinned = world_.Chance(0.1)};
    // What a run saves that was replaced long ago is no checkpoint of the job any more.
    const GroupRow* group = FindGroup(world_.ledger().newest(), plan_.group);
    if (group != nullptr && group->session == run_->session) job_.saved.push_back(saved);
    bool tried_before = false;
    while (!over()) {
      const Result<void> registered = world_.Call(process_, "Checkpoint", CheckpointTime(position), [&] {
        return group_->Checkpoint(saved.name, position,
                                  {.keep_last = kKeepLast, .pin = saved.pinned, .reclaim = plan_.reclaims});
      });
      if (process_.dead()) return false;
      if (registered.ok()) {
        world_.Tell(
            process_,
            CheckpointReport{.group = plan_.group, .session = run_->session, .name = saved.name, .position = position});
        OnRegistered(saved.name);
        return ReleaseOne();
      }
      if (registered.error().code == ErrorCode::kTrimmed) OnTrimmed(registered.error());
      // It was not registered, unless an earlier try was and failed at the reclaim that followed.
      if (registered.error().code == ErrorCode::kFenced && !tried_before) {
        std::erase_if(job_.saved, [&](const Saved& it) { return it.name == saved.name; });
      }
      if (!MayTryAgain(registered.error())) return false;
      tried_before = true;
      SleepFor(process_, seconds(1));
    }
    return false;
  }

  Duration CheckpointTime(Step position) const {
    const Step first = world_.ledger().newest().first_step;
    if (!plan_.reclaims || position <= first) return kCommitTime;
    return kCommitTime + kReclaimTimeAStep * static_cast<int64_t>(position.value - first.value);
  }

  void OnRegistered(const std::string& name) {
    std::vector<Saved>& all = job_.saved;
    const auto own = std::ranges::find(all, name, &Saved::name);
    if (own != all.end()) own->registered = true;
    // What the stream keeps beside the pinned ones is at most the newest two, this one counted.
    while (std::ranges::count(all, false, &Saved::pinned) > static_cast<std::ptrdiff_t>(kKeepLast)) {
      all.erase(std::ranges::find(all, false, &Saved::pinned));
    }
  }

  // Now and then an old pinned checkpoint is let go.
  bool ReleaseOne() {
    if (!world_.Chance(0.1) || run_->given_up || job_.saved.size() < 2 || !job_.saved.front().pinned) return true;
    const std::string name = job_.saved.front().name;
    const bool was_registered = job_.saved.front().registered;
    job_.saved.erase(job_.saved.begin());
    if (!was_registered) return true;
    const Result<void> released = world_.Call(process_, "Release", kCommitTime, [&] { return group_->Release(name); },
                                              {.may_be = ErrorCode::kNotFound});
    return released.ok() || MayTryAgain(released.error()) || released.error().code == ErrorCode::kNotFound;
  }

  World& world_;
  Process& process_;
  const JobPlan& plan_;
  Job& job_;
  const std::shared_ptr<JobRun> run_;
  const size_t index_;
  const MeshRank place_;
  std::optional<Group> group_;
};

// Shared with its ranks: one that was stopped may come back when all others are long done.
class JobKeeper : public std::enable_shared_from_this<JobKeeper> {
 public:
  JobKeeper(World& world, const JobPlan& plan) : world_(world), plan_(plan) {}

  void Keep() {
    if (!CreateGroup()) return;
    while (!world_.ledger().newest().deleted && world_.ledger().newest().writer_features == 0) {
      const std::shared_ptr<JobRun> run = Start();
      Watch(*run);
      if (run->AllEnded()) break;
      Leave(*run);
      world_.Sleep(world_.Exponential(seconds(5)));
    }
    while (!AllIdle()) world_.Sleep(seconds(1));
  }

 private:
  bool CreateGroup() {
    bool created = false;
    bool is_over = false;
    while (!created && !is_over) {
      world_.RunOne(plan_.group + ".creator", [&](Process& process) {
        std::optional<Stream> stream = OpenStream(world_, process);
        if (!stream) is_over = !process.dead();
        while (stream && !process.dead() && !created && !is_over) {
          const Result<void> done = world_.Call(process, "CreateGroup", kCommitTime,
                                                [&] { return stream->CreateGroup(plan_.group, job_.start); });
          created = done.ok() || done.error().code == ErrorCode::kAlreadyExists;
          // Another group may have let the first steps go already.
          if (FailedWith(done, ErrorCode::kTrimmed)) job_.start = world_.ledger().newest().first_step;
          is_over = FailedWith(done, ErrorCode::kNotFound) || FailedWith(done, ErrorCode::kIncompatible);
          if (!created) SleepFor(process, seconds(1));
        }
      });
    }
    return created;
  }

  std::shared_ptr<JobRun> Start() {
    auto run = std::make_shared<JobRun>();
    run->start = WhereToGoOn();
    run->names = job_.names;
    run->mesh = DrawMesh();
    const size_t ranks = size_t{run->mesh.dp_size} * run->mesh.cp_size;
    run->positions.resize(ranks);
    run->ended.resize(ranks);
    for (size_t index = 0; index < ranks; ++index) {
      Process& process = world_.Spawn(fmt::format("{}.rank{}", plan_.group, index));
      ranks_.push_back(&process);
      process.Run([this, self = shared_from_this(), &process, run, index] {
        RankProgram(world_, process, plan_, job_, run, index).Run();
      });
    }
    return run;
  }

  // The newest checkpoint of the model, or sometimes an older one that the stream still holds for certain.
  Step WhereToGoOn() {
    if (job_.saved.empty()) {
      // What its group holds by now, as where a run that saved nothing has gone on later than the one before.
      const GroupRow* group = FindGroup(world_.ledger().newest(), plan_.group);
      return group != nullptr ? group->smallest_held : job_.start;
    }
    const bool all_registered = std::ranges::all_of(job_.saved, &Saved::registered);
    if (all_registered && world_.Chance(0.3)) {
      // A rollback: what came after it is not gone on with, and is registered no more once two newer ones are.
      return job_.saved[world_.Below(job_.saved.size())].position;
    }
    return job_.saved.back().position;
  }

  MeshRank DrawMesh() {
    MeshRank mesh{};
    constexpr std::array<uint32_t, 3> kSizes{1, 2, 4};
    mesh.dp_size = plan_.uneven && world_.Chance(0.5) ? 3 : kSizes.at(world_.Below(kSizes.size()));
    mesh.cp_size = world_.plan().cp == 2 && world_.Chance(0.5) ? 2 : 1;
    return mesh;
  }

  void Watch(const JobRun& run) {
    const auto is_down = [&] {
      return run.stop || std::ranges::any_of(ranks_, [](const Process* rank) { return rank->dead(); });
    };
    while (!is_down() && !AllIdle()) {
      world_.Sleep(seconds(1));
      if (IsStopped() && world_.Chance(0.1)) return;  // Nobody hears of a rank any more.
    }
  }

  bool IsStopped() const {
    return std::ranges::any_of(ranks_, [](const Process* rank) { return rank->stopped(); });
  }

  // The run is over: its ranks are killed, but one that is merely stopped may come back and go on as if nothing was.
  void Leave(JobRun& run) {
    const bool has_session = run.session != Session{};
    run.given_up = true;
    for (Process* rank : ranks_) {
      if (!(rank->stopped() && has_session) && !rank->idle()) rank->Kill();
    }
    run.stop = !IsStopped();
    ranks_.clear();
  }

  bool AllIdle() const {
    return std::ranges::all_of(ranks_, [](const Process* rank) { return rank->idle(); });
  }

  World& world_;
  const JobPlan& plan_;
  Job job_;
  std::vector<Process*> ranks_;  // Of the newest run.
};

}  // namespace

void KeepJob(World& world, const JobPlan& plan) { std::make_shared<JobKeeper>(world, plan)->Keep(); }

}  // namespace batchweave::sim
