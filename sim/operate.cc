#include "sim/operate.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "batchweave/lifecycle/fence.h"
#include "batchweave/lifecycle/group.h"
#include "batchweave/lifecycle/quarantine.h"
#include "batchweave/lifecycle/reclaim.h"
#include "batchweave/lifecycle/upgrade.h"
#include "batchweave/log/change.h"
#include "sim/produce.h"

namespace batchweave::sim {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kCommitTime = minutes(2);
// A reclaim has no limit but the work that there is.
constexpr Duration kReclaimTime = hours(6);

TimePoint Soon(Process& process) { return After(process.clock().Now(), kCommitTime); }

// What is stored of steps that are trimmed, and nothing where a late put may bring it back when it is gone.
std::set<std::string> TrimmedData(World& world) {
  const FaultRates& rates = world.plan().rates;
  const auto is_late = [&](FaultKind kind) { return rates.at(static_cast<size_t>(kind)) > 0; };
  if (is_late(FaultKind::kApplyLater) || is_late(FaultKind::kDuplicate)) return {};
  std::set<std::string> keys;
  world.server().ForEach([&](const std::string& key, const SharedBytes& /*bytes*/) {
    const std::optional<Step> step = world.ledger().StepOfData(key);
    if (step && *step < world.ledger().newest().first_step) keys.insert(key);
  });
  return keys;
}

// I9, beside producers that live: what was trimmed when a reclaim began is gone when it has succeeded.
void CheckRemoved(World& world, const std::set<std::string>& trimmed) {
  for (const std::string& key : trimmed) {
    if (world.server().Find(key) == nullptr) continue;
    return world.Breach("I9", "a reclaim has left what was trimmed before it began: key=" + key, key);
  }
}

void ReclaimForever(World& world, Process& process) {
  std::optional<Stream> stream = OpenStream(world, process);
  if (!stream) return;
  while (!process.dead() && world.storming()) {
    SleepFor(process, world.Exponential(world.plan().reclaim_pace));
    const std::set<std::string> trimmed = TrimmedData(world);
    const Result<ReclaimReport> report =
        world.Call(process, "Reclaim", kReclaimTime, [&] { return Reclaim(stream->log()); });
    if (report.ok() && !process.dead()) CheckRemoved(world, trimmed);
    if (FailedWith(report, ErrorCode::kNotFound) || FailedWith(report, ErrorCode::kIncompatible)) return;
  }
}

class Operator {
 public:
  Operator(World& world, Process& process) : world_(world), process_(process) {}

  void Run() {
    std::optional<Stream> stream = OpenStream(world_, process_);
    if (!stream) return;
    ManifestLog& log = stream->log();
    while (!process_.dead() && world_.storming()) {
      SleepFor(process_, world_.Exponential(world_.plan().operator_pace));
      switch (world_.Below(6)) {
        case 1: Fence(log); break;
        case 2: ComeAndGo(log); break;
        case 3: TellNonsense(log); break;
        case 4: Upgrade(log); break;
        default: SetOrLift(log); break;
      }
    }
  }

 private:
  // A person acts on what may have changed since it was looked at: of what is not there any more there is nothing to do.
  template <typename Body>
  std::invoke_result_t<Body&> Act(const char* what, Body body) {
    return world_.Call(process_, what, kCommitTime, body, {.may_be = ErrorCode::kNotFound});
  }

  void SetOrLift(ManifestLog& log) {
    if (world_.Chance(0.4) && quarantined_) {
      (void)Act("LiftQuarantine", [&] { return LiftQuarantine(log, *quarantined_, Soon(process_)); });
      quarantined_.reset();
      return;
    }
    // By what a person has read: a version that nobody was shown yet the call need not find.
    const Result<LoggedManifest> read = log.ReadNewest();
    if (!read.ok()) return;
    const Manifest& newest = read->manifest;
    const uint64_t live = newest.next_step.value - newest.first_step.value;
    if (live == 0) return;
    const Step first = newest.first_step + world_.Below(live);
    const Step end{std::min(first.value + 1 + world_.Below(4), newest.next_step.value)};
    const StepRange range{.first = first, .end = end};
    const auto set = [&] { return SetQuarantine(log, range, "simulated", Soon(process_)); };
    if (Act("SetQuarantine", set).ok()) quarantined_ = range;
  }

  // Fault E1: a progress hint may be anything.
  void TellNonsense(ManifestLog& log) {
    const std::vector<JobPlan>& jobs = world_.plan().jobs;
    if (jobs.empty()) return;
    Bytes nonsense(world_.Below(64));
    for (std::byte& byte : nonsense) byte = static_cast<std::byte>(world_.Below(256));
    const std::string key = log.keys().Progress(jobs[world_.Below(jobs.size())].group);
    (void)PutBytes(process_.env().store, key, nonsense, PutMode::kOverwrite);
  }

  void Upgrade(ManifestLog& log) {
    (void)Act("Upgrade", [&] { return UpgradeStream(log, kKnownFeatures, Soon(process_)); });
  }

  void Fence(ManifestLog& log) {
    const std::vector<ProducerPlan>& producers = world_.plan().producers;
    const std::string& name = producers[world_.Below(producers.size())].name;
    (void)Act("Fence", [&] { return FenceProducer(log, name, Soon(process_)); });
  }

  // A second job that looks at the stream for a while: what it holds must stay as long.
  void ComeAndGo(ManifestLog& log) {
    const std::string name = fmt::format("{}{}", kVisitorPrefix, world_.Below(1'000'000));
    const Step start = world_.ledger().newest().first_step;
    if (!Act("CreateGroup", [&] { return CreateGroup(log, name, start, Soon(process_)); }).ok()) return;
    SleepFor(process_, world_.Exponential(minutes(1)));
    while (!process_.dead()) {
      const Result<LoggedManifest> dropped =
          Act("DropGroup", [&] { return DropGroup(log, {.group = name, .session = {}}, Soon(process_)); });
      if (dropped.ok() || dropped.error().code == ErrorCode::kNotFound) return;
      SleepFor(process_, seconds(1));
    }
  }

  World& world_;
  Process& process_;
  std::optional<StepRange> quarantined_;
};

Duration DrawPause(World& world) {
  // Most are short; some are longer than all that the others wait for.
  return world.Chance(0.2) ? world.Exponential(hours(1)) : world.Exponential(seconds(20));
}

}  // namespace

void KeepReclaimer(World& world) {
  while (world.storming()) {
    Process& process = world.Spawn("reclaimer");
    process.Run([&] { ReclaimForever(world, process); });
    while (!process.idle() && world.storming()) world.Sleep(seconds(1));
    world.Sleep(world.Exponential(seconds(10)));
  }
}

void KeepOperator(World& world) {
  while (world.storming()) {
    Process& process = world.Spawn("operator");
    process.Run([&] { Operator(world, process).Run(); });
    while (!process.idle() && world.storming()) world.Sleep(seconds(1));
    world.Sleep(world.Exponential(seconds(10)));
  }
}

void KeepChurn(World& world, uint32_t chain) {
  for (uint64_t i = 0; i < world.plan().churn; ++i) {
    const ProducerPlan plan{.name = fmt::format("task{}-{}", chain, i),
                            .batches = 1 + world.Below(3),
                            .pace = seconds(1),
                            .cursor_bytes = world.Below(1000),
                            .forget = true};
    KeepProducers(world, {plan});
  }
}

void KeepFate(World& world) {
  while (world.storming()) {
    world.Sleep(world.Exponential(world.plan().fate_pace));
    std::vector<Process*> living;
    for (const auto& process : world.processes()) {
      if (!process->dead() && !process->idle()) living.push_back(process.get());
    }
    if (living.empty() || !world.storming()) continue;
    Process& chosen = *living[world.Below(living.size())];
    switch (world.Below(6)) {
      case 0:
      case 1:
        world.network().Count(FaultKind::kCrash);
        chosen.Kill();
        break;
      case 2:
      case 3:
        world.network().Count(FaultKind::kPause);
        chosen.PauseUntil(world.scheduler().now() + DrawPause(world));
        break;
      case 4: {
        constexpr std::array<std::string_view, 6> kParts{"",          "/manifest/", "/data/",
                                                         "/archive/", "/intent/",   "/progress/"};
        const std::string part(kParts.at(world.Below(kParts.size())));
        const SimTime now = world.scheduler().now();
        world.network().AddOutage({.from = now, .until = now + world.Exponential(minutes(1)), .part = part});
        world.trace().Add(now, "the store", "is down", part, "");
        break;
      }
      default:
        world.network().Count(FaultKind::kClockJump);
        chosen.clock().JumpWall(seconds(static_cast<int64_t>(world.Below(20'000)) - 10'000));
        break;
    }
  }
}

void Insist(World& world, const std::string& name, const std::function<Result<void>(Process&, Stream&)>& body) {
  bool done = false;
  while (!done) {
    world.RunOne(name, [&](Process& process) {
      std::optional<Stream> stream = OpenStream(world, process);
      if (!stream) {
        done = !process.dead();
        return;
      }
      const Result<void> result = body(process, *stream);
      done = !process.dead() && (result.ok() || FailedWith(result, ErrorCode::kIncompatible));
    });
  }
}

}  // namespace batchweave::sim
