#include "sim/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "batchweave/base/hash.h"

namespace batchweave::sim {
namespace {

// So long the log may be busy or the store down before a commit is given up: what Stream's calls promise.
constexpr Duration kOpenTime = std::chrono::minutes(2);
constexpr double kFastestClock = 1.5;

}  // namespace

World::World(Plan plan)
    : plan_(std::move(plan)),
      server_(scheduler_, plan_.profile->ordered_list),
      network_(scheduler_, *plan_.profile, plan_.limits_share, Hash64(AsBytes(fmt::format("network {}", plan_.seed)))),
      random_(Hash64(AsBytes(fmt::format("world {}", plan_.seed)))),
      ledger_(server_, scheduler_, violations_),
      evidence_{.server = server_, .ledger = ledger_, .scheduler = scheduler_, .violations = violations_} {
  network_.SetRates(plan_.rates);
  AddLogCheckers(evidence_, checkers_);
  AddProducerCheckers(evidence_, checkers_);
  AddHoldCheckers(evidence_, checkers_);
  AddReaderCheckers(evidence_, checkers_);
  AddAnnouncementCheckers(evidence_, checkers_);
  if (plan_.removes_to_overwrite) server_.RemoveToOverwrite();
  server_.Observe(ledger_);
  for (const auto& checker : checkers_) {
    server_.Observe(*checker);
    ledger_.Tell(*checker);
  }
}

// The worst moment to be stopped: a commit is open, and by the time that it is looked at everything may have changed.
void World::AtWorstMoment(Process& process, double share) {
  if (!storming() || !Chance(plan_.sleepy_share * share)) return;
  network_.Count(FaultKind::kPause);
  process.PauseUntil(scheduler_.now() + Exponential(std::chrono::hours(1)));
  scheduler_.SuspendUntil(process.RunsFrom());
}

Duration World::Exponential(Duration mean) {
  return std::chrono::duration_cast<Duration>(mean * -std::log(1 - NextUnit(random_)));
}

Process& World::Spawn(const std::string& name) {
  // Quartz is off by some ten in a million; a few machines are far worse, and wall clocks are off by hours.
  ClockError error{.rate = 1 + 1e-5 * NextNormal(random_)};
  if (Chance(0.1)) error.rate = 0.5 + (kFastestClock - 0.5) * NextUnit(random_);
  if (Chance(0.3)) error.wall_skew = std::chrono::seconds(static_cast<int64_t>(Below(200'000)) - 100'000);
  const Machine machine{.scheduler = scheduler_,
                        .server = server_,
                        .network = network_,
                        .trace = trace_,
                        .at_worst_moment = at_worst_moment_};
  processes_.push_back(std::make_unique<Process>(machine, fmt::format("{}#{}", name, processes_.size()), random_.Next(),
                                                 error, plan_.retries));
  return *processes_.back();
}

void World::Keep(std::function<void()> body) { scheduler_.Start(*this, std::move(body)); }

Process& World::RunOne(const std::string& name, const std::function<void(Process&)>& body) {
  Process& process = Spawn(name);
  process.Run([&] { body(process); });
  while (!process.idle()) Sleep(std::chrono::seconds(1));
  return process;
}

void World::Tell(const Process& who, const Acknowledgement& acknowledgement) {
  if (who.dead() || ledger_.newest().deleted) return;
  trace_.Add(scheduler_.now(), who.name(), "was told", fmt::format("committed: {}", acknowledgement.seq), "");
  for (const auto& checker : checkers_) checker->OnAcknowledged(acknowledgement);
}

void World::Tell(const Process& who, const OpeningReport& opening) {
  if (who.dead() || ledger_.newest().deleted) return;
  for (const auto& checker : checkers_) checker->OnOpened(opening);
}

void World::Tell(const Process& who, const CheckpointReport& checkpoint) {
  if (who.dead() || ledger_.newest().deleted) return;
  trace_.Add(scheduler_.now(), who.name(), "registered",
             fmt::format("{} at step {}", checkpoint.name, checkpoint.position.value), "");
  for (const auto& checker : checkers_) checker->OnCheckpoint(checkpoint);
}

void World::Tell(const Process& who, const Delivery& delivery) {
  if (who.dead() || ledger_.newest().deleted) return;
  trace_.Add(scheduler_.now(), who.name(), "was given",
             delivery.batch != nullptr ? fmt::format("step {}", delivery.batch->step().value) : "the end", "");
  last_delivery_ = scheduler_.now();
  for (const auto& checker : checkers_) checker->OnDelivery(delivery);
}

void World::AtRest() {
  for (const auto& checker : checkers_) checker->AtRest();
}

Duration World::Slack() const {
  return network_.calm() && scheduler_.now() > storm_end_ + kSlack ? kSlackInCalm : kSlack;
}

void World::CheckBound(const RunningCall& call) {
  if (call.process->dead() || call.process->pauses() != call.pauses) return;
  TimedCall timed{.who = call.process->name(),
                  .what = call.what,
                  .took = call.process->clock().Now() - call.began,
                  .limit = call.limit};
  if (call.traits.waits_for_readers) {
    const Duration since = scheduler_.now() - last_delivery_;
    timed.took = std::min(timed.took, std::chrono::duration_cast<Duration>(since * kFastestClock));
  }
  for (const auto& checker : checkers_) checker->OnCall(timed);
}

void World::CheckBounds() {
  for (const RunningCall& call : calls_) CheckBound(call);
}

void World::Note(const RunningCall& call, const Error& error) {
  const Process& process = *call.process;
  trace_.Add(scheduler_.now(), process.name(), "failed", call.what, ToString(error));
  if (process.dead()) return;
  if (MayBe(call, error)) return;
  Breach("errors", fmt::format("{} of {} was told what is not so: {}", call.what, process.name(), ToString(error)),
         process.name());
}

// Whether what a caller was told can be the truth.
bool World::MayBe(const RunningCall& call, const Error& error) const {
  const Manifest& newest = ledger_.newest();
  // Sleepers may go on with a deleted stream, and what they are told is of a history of their own. But neither that it is
  // damaged, nor that it is worth waiting.
  if (call.of_deleted && (error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kStalled)) return false;
  if (newest.deleted || error.code == call.traits.may_be) return true;
  const auto damages = [&](FaultKind kind) { return plan_.rates[static_cast<size_t>(kind)] > 0; };
  switch (error.code) {
    // Nothing that a store, a crash or a rival does is any of these.
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kDenied:
    case ErrorCode::kMeshMismatch:
    case ErrorCode::kNotFound: return false;
    case ErrorCode::kUnsuitableStore: return plan_.removes_to_overwrite;
    case ErrorCode::kIncompatible: return newest.writer_features != 0;
    case ErrorCode::kSealed: return newest.sealed;
    // Nothing in the store is; what is read may be, on its way: who was stopped, or met it before the calm and asked
    // on, tells it late, and so does a producer whose committer met it.
    case ErrorCode::kCorrupt:
      return (!call.of_calm || call.process->pauses() > 0 ||
              (call.traits.tells_of_commits && call.process->met_damage())) &&
             (damages(FaultKind::kShortBody) || damages(FaultKind::kEmptyBody) || damages(FaultKind::kFlippedBody));
    default: return true;
  }
}

void World::Breach(std::string invariant, std::string message, std::string about) {
  evidence_.Report(std::move(invariant), std::move(message), std::move(about));
}

std::optional<Stream> OpenStream(World& world, Process& process) {
  while (!process.dead()) {
    Result<Stream> stream =
        world.Call(process, "Open", kOpenTime, [&] { return Stream::Open(process.env(), kStreamName); });
    if (stream.ok()) return *std::move(stream);
    if (stream.error().code == ErrorCode::kNotFound || stream.error().code == ErrorCode::kIncompatible) break;
    SleepFor(process, std::chrono::seconds(1));
  }
  return std::nullopt;
}

bool MayTryAgain(const Error& error) {
  return error.code == ErrorCode::kStalled || error.code == ErrorCode::kUnavailable ||
         error.code == ErrorCode::kUnknownOutcome || error.code == ErrorCode::kCorrupt;
}

void SleepFor(Process& process, Duration by) { process.clock().SleepUntil(After(process.clock().Now(), by)); }

}  // namespace batchweave::sim
