#include "sim/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "batchweave/lifecycle/delete_stream.h"
#include "batchweave/lifecycle/group.h"
#include "batchweave/lifecycle/reclaim.h"
#include "batchweave/log/change.h"
#include "batchweave/stream/verify.h"
#include "sim/operate.h"
#include "sim/produce.h"
#include "sim/train.h"

namespace batchweave::sim {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// After this nothing that was sent in the storm is on its way: Network's longest delay and a client's time-out.
constexpr Duration kAllLanded = hours(4);
// Once nothing fails any more, all that is left to do takes minutes of simulated time; a stopped process may sleep for
// hours yet.
constexpr Duration kCalmMax = hours(48);
constexpr Duration kWatchPace = minutes(10);
constexpr size_t kStoryLines = 60;
// A feature that this software does not know.
constexpr uint64_t kUnknownFeature = uint64_t{1} << 62;

// The course of a simulation, as one fibre goes through it.
class Director {
 public:
  explicit Director(World& world) : world_(world) {}

  void Run() {
    RaceToCreate();
    world_.BeginStorm();
    StartFleet();
    world_.Sleep(world_.plan().storm);
    world_.network().Calm();
    world_.trace().Add(world_.scheduler().now(), "the storm", "is over", "", "");
    if (IsOurs()) {
      DropVisitors();
      Await(producing_);
      Seal();
    }
    Await(training_);
    if (world_.plan().deletes_at_end && IsOurs()) Delete();
    AwaitProcesses();
    quiet_at_ = world_.scheduler().now();
    world_.Sleep(kAllLanded);
    if (IsOurs()) Rest();
    done_ = true;
  }

  bool done() const { return done_; }
  // When the last process had ended, if it has come to that.
  std::optional<SimTime> quiet_at() const { return quiet_at_; }

 private:
  // Newer software has taken over: this one must leave the stream as it is.
  bool IsOurs() const { return world_.ledger().newest().writer_features == 0; }

  void Seal() {
    Insist(world_, "sealer", [&](Process& process, Stream& stream) -> Result<void> {
      const Result<Step> sealed = world_.Call(process, "Seal", minutes(2), [&] { return stream.Seal(); });
      if (!sealed.ok()) return sealed.error();
      return {};
    });
  }

  void SealEarly() {
    world_.Sleep(world_.plan().storm / 2);
    Seal();
  }

  void DeleteEarly() {
    world_.Sleep(world_.plan().storm / 2);
    Delete();
  }

  void RaceToCreate() {
    uint64_t created = 0;
    std::vector<Process*> racers;
    for (uint32_t i = 0; i < world_.plan().creators; ++i) {
      Process& process = world_.Spawn("creator");
      racers.push_back(&process);
      process.Run([this, &process, &created] {
        const Result<Stream> stream =
            world_.Call(process, "Create", minutes(2), [&] { return Stream::Create(process.env(), kStreamName); });
        created += stream.ok() ? 1 : 0;
      });
    }
    while (!std::ranges::all_of(racers, [](const Process* it) { return it->idle(); })) world_.Sleep(seconds(1));
    if (created > 1) world_.Breach("I1", fmt::format("{} creators were told that they created the stream", created));
    while (!world_.ledger().keys()) {
      world_.RunOne("creator", [this](Process& process) {
        (void)world_.Call(process, "Open", minutes(2),
                          [&] { return Stream::Open(process.env(), kStreamName, {.create = true}); });
      });
    }
  }

  void StartFleet() {
    const Plan& plan = world_.plan();
    for (size_t i = 0; i < plan.producers.size(); i += plan.producers_a_process) {
      const size_t end = std::min(plan.producers.size(), i + plan.producers_a_process);
      const std::vector<ProducerPlan> together(plan.producers.begin() + static_cast<std::ptrdiff_t>(i),
                                               plan.producers.begin() + static_cast<std::ptrdiff_t>(end));
      KeepCounted(producing_, [this, together] { KeepProducers(world_, together); });
    }
    for (uint32_t i = 0; plan.churn > 0 && i < plan.churners; ++i) {
      KeepCounted(producing_, [this, i] { KeepChurn(world_, i); });
    }
    for (const JobPlan& job : plan.jobs) {
      KeepCounted(training_, [this, &job] { KeepJob(world_, job); });
    }
    for (uint32_t i = 0; i < plan.reclaimers; ++i) world_.Keep([this] { KeepReclaimer(world_); });
    if (plan.operator_pace > Duration{}) world_.Keep([this] { KeepOperator(world_); });
    if (plan.fate_pace > Duration{}) world_.Keep([this] { KeepFate(world_); });
    if (plan.seals_early) world_.Keep([this] { SealEarly(); });
    if (plan.newer_binary) world_.Keep([this] { BeNewer(); });
    if (plan.deletes_early) world_.Keep([this] { DeleteEarly(); });
  }

  // `at_work` is how many of a kind have not come to their end.
  void KeepCounted(size_t& at_work, const std::function<void()>& body) {
    at_work += 1;
    world_.Keep([&at_work, body] {
      body();
      at_work -= 1;
    });
  }

  void BeNewer() {
    world_.Sleep(world_.plan().storm / 2);
    Insist(world_, "newer", [](Process& process, Stream& stream) -> Result<void> {
      const auto add_feature = [](Manifest& next) -> Result<bool> {
        next.writer_features |= kUnknownFeature;
        return true;
      };
      const Result<LoggedManifest> done =
          CommitChange(stream.log(), After(process.clock().Now(), minutes(2)), add_feature);
      if (!done.ok() && done.error().code != ErrorCode::kIncompatible) return done.error();
      return {};
    });
    const Version newer = world_.ledger().newest().version;
    world_.Sleep(world_.plan().storm / 2);
    if (world_.ledger().newest().version > newer) {
      world_.Breach("I2", "this software committed to a stream with a feature that it does not know");
    }
  }

  // Groups of people who died before they could drop them: producers with a limit would wait for them for ever.
  void DropVisitors() {
    Insist(world_, "janitor", [&](Process& process, Stream& stream) -> Result<void> {
      const LoggedManifest newest = BW_TRY(stream.log().ReadNewest());
      for (const GroupRow& group : newest.manifest.groups) {
        if (!group.name.starts_with(kVisitorPrefix)) continue;
        const TimePoint deadline = After(process.clock().Now(), minutes(2));
        const auto drop = [&] {
          return DropGroup(stream.log(), {.group = group.name, .session = group.session}, deadline);
        };
        BW_TRY(world_.Call(process, "DropGroup", minutes(2), drop, {.may_be = ErrorCode::kNotFound}));
      }
      return {};
    });
  }

  void Await(const size_t& at_work) {
    while (IsOurs() && at_work > 0) world_.Sleep(seconds(1));
  }

  void AwaitProcesses() {
    const auto all_idle = [&] {
      return std::ranges::all_of(world_.processes(), [](const auto& process) { return process->idle(); });
    };
    if (!IsOurs()) {
      for (const auto& process : world_.processes()) process->Kill();
    }
    while (!all_idle()) world_.Sleep(minutes(1));
  }

  void Delete() {
    bool deleted = false;
    while (!deleted) {
      world_.RunOne("deleter", [&](Process& process) {
        const Result<DeleteReport> report = world_.Call(process, "Delete", hours(6), [&] {
          return DeleteStream(process.env(), kStreamName, After(process.clock().Now(), minutes(2)));
        });
        deleted = report.ok() || FailedWith(report, ErrorCode::kIncompatible);
      });
    }
    if (world_.ledger().newest().deleted) world_.NoteDeletion();
  }

  void Rest() {
    const bool is_deleted = world_.ledger().newest().deleted;
    if (is_deleted) {
      Delete();
      world_.AtRest();
      return;
    }
    CheckSources();
    Insist(world_, "reclaimer", [&](Process& process, Stream& stream) -> Result<void> {
      const bool removes = world_.plan().removes_to_overwrite;
      const Result<ReclaimReport> reclaimed =
          world_.Call(process, "Reclaim", hours(6), [&] { return Reclaim(stream.log()); });
      // Then old versions stay as they are: such a store is refused before the first is retired (fault M5).
      if (!(removes && FailedWith(reclaimed, ErrorCode::kUnsuitableStore))) BW_TRY(reclaimed);
      if (!removes) world_.AtRest();
      const VerifyReport report =
          BW_TRY(world_.Call(process, "Verify", hours(6), [&] { return VerifyStream(stream, {.deep = true}); }));
      for (const Finding& finding : report.findings) {
        if (finding.kind == Finding::Kind::kBroken) world_.Breach(finding.invariant, "verify: " + finding.message);
      }
      return {};
    });
  }

  // Exactly once, to the end: each source has come to its last batch, and has finished.
  void CheckSources() {
    if (world_.plan().seals_early) return;
    std::map<std::string, uint64_t> batches;
    for (const LedgerStep& step : world_.ledger().steps()) batches[step.entry.producer] += 1;
    for (const ProducerPlan& plan : world_.plan().producers) {
      const uint64_t due = plan.batches + plan.more_batches;
      const std::optional<ProducerRow> row = world_.ledger().RowOf(plan.name);
      // A late holder may have opened it once more, and died.
      const bool finished = plan.more_batches > 0 || (row && row->state != ProducerRow::State::kOpen);
      if (batches[plan.name] == due && finished) continue;
      world_.Breach("I5", fmt::format("{} has {} batches in the stream, of {}{}", plan.name, batches[plan.name], due,
                                      finished ? "" : ", and has not finished"));
    }
  }

  World& world_;
  size_t producing_ = 0;
  size_t training_ = 0;
  std::optional<SimTime> quiet_at_;
  bool done_ = false;
};

std::string StoryOf(const Trace& trace, const Violation& violation) {
  std::string story = fmt::format("the last lines before {}:\n{}", TimeText(violation.when), trace.Story(kStoryLines));
  if (!violation.about.empty()) {
    story += fmt::format("and of those, what is about \"{}\":\n{}", violation.about,
                         trace.Story(kStoryLines, violation.about));
  }
  return story;
}

struct LeftBehind {
  std::unique_ptr<World> world;
  std::unique_ptr<Director> director;
};

// Where a run ends early its fibres cannot be unwound, so the whole world is left as it is, for good.
void LeaveBehind(LeftBehind left) {
  static auto& all = *new std::vector<LeftBehind>;
  all.push_back(std::move(left));
}

}  // namespace

Outcome Simulate(uint64_t seed, const SimulateOptions& options) {
  auto world = std::make_unique<World>(MakePlan(seed));
  if (options.print_trace) world->trace().PrintAll();
  auto director = std::make_unique<Director>(*world);
  world->Keep([&] { director->Run(); });
  // Whether a call comes back at all is looked at from time to time.
  const std::function<void()> watch = [&] {
    world->CheckBounds();
    if (!director->done()) world->scheduler().At(world->scheduler().now() + kWatchPace, watch);
  };
  watch();
  Scheduler& scheduler = world->scheduler();
  const auto is_late = [&] { return scheduler.now() - kCalmMax > world->storm_end(); };
  while (world->violations().empty() && !is_late() && scheduler.RunOne()) {
  }
  if (world->violations().empty() && !director->done()) {
    world->Breach("I12",
                  fmt::format("nothing fails any more, and at {} it is not at its end", TimeText(scheduler.now())));
  }
  if (world->violations().empty() && scheduler.running() > 0) {
    world->Breach("I12", fmt::format("{} fibres wait for ever", scheduler.running()));
  }
  Outcome outcome{.seed = seed,
                  .trace_hash = world->trace().hash(),
                  .violations = world->violations(),
                  .operations = world->trace().size(),
                  .commits = world->ledger().newest().version.value,
                  .steps = world->ledger().newest().next_step.value,
                  .simulated = director->quiet_at().value_or(scheduler.now()),
                  .faults = world->network().counts()};
  if (!outcome.violations.empty()) {
    outcome.story = StoryOf(world->trace(), outcome.violations.front());
    LeaveBehind({std::move(world), std::move(director)});
  }
  return outcome;
}

}  // namespace batchweave::sim
