// Everything of one simulation: the machine that all share, the processes, the checkers, and chance for what is done to
// them.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "batchweave/stream/stream.h"
#include "sim/checkers.h"
#include "sim/ledger.h"
#include "sim/plan.h"
#include "sim/process.h"

namespace batchweave::sim {

// What a call takes at most beyond the time that it promises: its last request, which hangs until the client gives up,
// and what it must read first, each with all its tries.
inline constexpr Duration kSlack = std::chrono::minutes(20);
// The same once nothing fails any more, and nothing hangs that was sent while it did.
inline constexpr Duration kSlackInCalm = std::chrono::minutes(1);

// What is special about a call of the library.
struct CallTraits {
  bool waits_for_readers = false;     // Its limit counts from the last step that any rank has read.
  bool tells_of_commits = false;      // Also what befell a commit that another thread made before.
  std::optional<ErrorCode> may_be{};  // It may end so, beside what any call may be told.
};

// Of every simulation.
inline constexpr std::string_view kStreamName = "run";

class World final : public FiberOwner {
 public:
  explicit World(Plan plan);

  const Plan& plan() const { return plan_; }
  Scheduler& scheduler() { return scheduler_; }
  Server& server() { return server_; }
  Network& network() { return network_; }
  Trace& trace() { return trace_; }
  const Ledger& ledger() const { return ledger_; }
  std::vector<Violation>& violations() { return violations_; }
  // From now on, for as long as the plan says, everything goes wrong.
  void BeginStorm() { storm_end_ = scheduler_.now() + plan_.storm; }
  SimTime storm_end() const { return storm_end_; }
  bool storming() const { return scheduler_.now() < storm_end_ && !network_.calm(); }

  // Chance, for those who decide what happens to the fleet.
  bool Chance(double share) { return NextUnit(random_) < share; }
  uint64_t Below(uint64_t end) { return random_.Next() % end; }
  // Of an exponential distribution, as waits between independent events are.
  Duration Exponential(Duration mean);

  // A new process; with a clock as wrong as chance will have it. Lives as long as the world.
  Process& Spawn(const std::string& name);
  const std::vector<std::unique_ptr<Process>>& processes() const { return processes_; }

  // Those who start processes and watch them are fibres too, of no process: they never fail.
  void Keep(std::function<void()> body);
  // Starts a process that runs `body`, and waits until nothing of it runs any more.
  Process& RunOne(const std::string& name, const std::function<void(Process&)>& body);
  void Sleep(Duration by) { scheduler_.SuspendUntil(scheduler_.now() + by); }
  SimTime RunsFrom() const override { return {}; }

  // What an actor reports. Of a dead process nothing counts: nobody heard it.
  void Tell(const Process& who, const Acknowledgement& acknowledgement);
  void Tell(const Process& who, const OpeningReport& opening);
  void Tell(const Process& who, const CheckpointReport& checkpoint);
  void Tell(const Process& who, const Delivery& delivery);
  void AtRest();
  // The stream was deleted, and all of it: who calls from now on is to be told so.
  void NoteDeletion() { is_deleted_ = true; }

  // Makes a call of the library that promises to end within `limit`, and checks that it does, and that what it says can be
  // true.
  template <typename Body>
  auto Call(Process& process, std::string_view what, Duration limit, Body body, CallTraits traits = {}) {
    const auto call = calls_.insert(calls_.end(), {.process = &process,
                                                   .what = what,
                                                   .began = process.clock().Now(),
                                                   .limit = limit + Slack(),
                                                   .pauses = process.pauses(),
                                                   .traits = traits,
                                                   .of_deleted = is_deleted_ && network_.calm(),
                                                   .of_calm = network_.calm()});
    auto result = body();
    CheckBound(*call);
    if (!result.ok()) Note(*call, result.error());
    calls_.erase(call);
    return result;
  }
  // Of the calls that did not come back yet.
  void CheckBounds();

  void Breach(std::string invariant, std::string message, std::string about = {});

 private:
  struct RunningCall {
    Process* process;
    std::string_view what;
    TimePoint began;
    Duration limit;
    uint64_t pauses;  // Of the process, when it began: who was stopped meanwhile is not to blame.
    CallTraits traits;
    bool of_deleted;  // When it began the stream was deleted, and nothing failed any more.
    bool of_calm;     // When it began nothing failed any more.
  };
  Duration Slack() const;
  void CheckBound(const RunningCall& call);
  void AtWorstMoment(Process& process, double share);
  void Note(const RunningCall& call, const Error& error);
  bool MayBe(const RunningCall& call, const Error& error) const;

  const Plan plan_;
  SimTime storm_end_ = std::chrono::hours(24);  // Long before that the stream is there, and the storm begins.
  Scheduler scheduler_;
  Server server_;
  Network network_;
  Trace trace_;
  SeededRandom random_;
  const std::function<void(Process&, double)> at_worst_moment_ = [this](Process& process, double share) {
    AtWorstMoment(process, share);
  };
  std::vector<Violation> violations_;
  Ledger ledger_;
  Evidence evidence_;
  Checkers checkers_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::list<RunningCall> calls_;
  SimTime last_delivery_{};
  bool is_deleted_ = false;
};

// The stream, opened by `process`, which tries until it is there; none once the process is dead or the stream gone.
std::optional<Stream> OpenStream(World& world, Process& process);

// Whether an actor tries a call again that failed so; anything else is for good.
bool MayTryAgain(const Error& error);

// Sleeps on the process's own clock.
void SleepFor(Process& process, Duration by);

}  // namespace batchweave::sim
