#include "sim/produce.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "sim/source.h"

namespace batchweave::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kStallAfter = minutes(1);
constexpr Duration kWorkerTime = minutes(3);
constexpr int kGatherTriesMax = 10;
constexpr int kStallsMax = 60;
// What OpenProducer promises: batchweave/producer/producer_host.cc.
constexpr Duration kOpenTime = minutes(2);

// Receipts of the parts of one batch, by the workers who wrote them; they may come when nobody waits any more.
struct Parts {
  PartTicket ticket;
  std::vector<std::vector<PartReceipt>> receipts;  // By range; several workers may have written the same.
  bool complete() const {
    return std::ranges::none_of(receipts, [](const auto& of_range) { return of_range.empty(); });
  }
};

// One source, and whether its last batch is committed. Shared with all who ever held it.
struct Source {
  ProducerPlan plan;
  bool reopens = false;  // It has finished once, and there is more.
  bool done = false;
};

class ProducerProgram {
 public:
  ProducerProgram(World& world, Process& process, const std::shared_ptr<Source>& source)
      : world_(world), process_(process), source_(source), plan_(source->plan), reopens_(source->reopens) {}

  // None where the stream is gone, or the process is dead.
  void Run(std::optional<Stream>& stream) {
    if (!stream) {
      if (!process_.dead()) SetDone();
      return;
    }
    Result<Producer> opened = world_.Call(process_, "OpenProducer", kOpenTime, [&] {
      return stream->OpenProducer(plan_.name, {.reopen = reopens_,
                                               .forget = plan_.forget,
                                               .max_lead_steps = plan_.max_lead_steps,
                                               .max_lead_bytes = plan_.max_lead_bytes,
                                               .stall_after = kStallAfter});
    });
    if (!opened.ok()) {
      if (process_.dead()) return;
      CheckEnd(opened.error());
      if (IsEnd(opened.error())) SetDone();
      return;
    }
    producer_ = &*opened;
    world_.Tell(process_, OpeningReport{.producer = plan_.name, .incarnation = opened->incarnation()});
    const std::optional<uint64_t> number = NumberOf(opened->cursor().value_or(Bytes{}));
    if (!number) return world_.Breach("I5", plan_.name + " got a cursor that is not its own");
    for (uint64_t next = *number + 1; next <= plan_.batches; ++next) {
      if (!PublishNext(next)) return;
      if (next % plan_.flush_every == 0 && !Settle("Flush", &Producer::Flush)) return;
      if (next < plan_.batches) SleepFor(process_, world_.Exponential(plan_.pace));
    }
    if (Settle("Finish", &Producer::Finish)) SetDone();
  }

 private:
  // Unless it goes on by now, and this holder has slept through that.
  void SetDone() { source_->done |= reopens_ == source_->reopens; }

  // The stream ended, the source has finished, or newer software has taken over: nothing more will come of it.
  bool IsEnd(const Error& error) const {
    return error.code == ErrorCode::kAlreadyExists || error.code == ErrorCode::kSealed ||
           error.code == ErrorCode::kIncompatible || error.code == ErrorCode::kNotFound;
  }

  template <typename Body>
  auto Timed(const char* what, Body body) {
    const bool waits_for_readers = plan_.max_lead_steps > 0 || plan_.max_lead_bytes > 0;
    return world_.Call(process_, what, kStallAfter, body,
                       {.waits_for_readers = waits_for_readers, .tells_of_commits = true});
  }

  // Waits for what was published, and tells that it is committed. False: this holder is at its end.
  bool Settle(const char* what, Result<void> (Producer::*settle)(TimePoint)) {
    for (;;) {
      const Result<void> settled = Timed(what, [&] { return (producer_->*settle)(kForever); });
      if (process_.dead()) return false;
      if (settled.ok()) break;
      if (!Continues(settled.error())) return false;
    }
    process_.ForgetDamage();
    // Not what the library says is committed, but what this holder published: all of that is meant.
    if (published_seq_ == 0) return true;
    world_.Tell(process_, Acknowledgement{.producer = plan_.name,
                                          .incarnation = producer_->incarnation(),
                                          .seq = published_seq_,
                                          .number = published_number_});
    return true;
  }

  // Who is told that it is over, for it is fenced or has finished: is that so?
  void CheckEnd(const Error& error) {
    if (error.code != ErrorCode::kFenced && error.code != ErrorCode::kAlreadyExists) return;
    if (world_.ledger().newest().deleted) return;
    const std::optional<ProducerRow> row = world_.ledger().RowOf(plan_.name);
    const bool is_open = row && row->state == ProducerRow::State::kOpen;
    const bool is_ours = producer_ != nullptr && row && row->incarnation == producer_->incarnation();
    if (!is_open || (error.code == ErrorCode::kFenced && !is_ours)) return;
    world_.Breach("errors", fmt::format("{} was told what is not so: {}", process_.name(), ToString(error)),
                  process_.name());
  }

  bool Continues(const Error& error) {
    CheckEnd(error);
    if (IsEnd(error)) SetDone();
    if (!MayTryAgain(error)) return false;
    // A holder that has stalled for an hour is started anew, as any orchestrator would.
    stalls_ = error.code == ErrorCode::kStalled ? stalls_ + 1 : 0;
    if (stalls_ == kStallsMax) return false;
    SleepFor(process_, seconds(1));
    return !process_.dead();
  }

  PublishOptions OptionsFor(uint64_t number) const {
    return {.cursor = CursorOf(number, plan_.cursor_bytes),
            .cursor_before = number == 1 ? std::nullopt : std::optional(CursorOf(number - 1, plan_.cursor_bytes)),
            .samples = number % 7,
            .metadata = Bytes(plan_.metadata_bytes)};
  }

  Grid GridOf(uint64_t number) const { return {.dp = number % 5 == 0 ? 8u : 4u, .cp = world_.plan().cp}; }

  // Fault C2: a source that was set back gets an error that names both cursors, and nothing else.
  void PublishRewound(uint64_t number) {
    PublishOptions options = OptionsFor(number);
    options.cursor_before = CursorOf(number - 2, plan_.cursor_bytes);
    const Result<uint64_t> seq = producer_->Publish(BatchOf(plan_.name, number, GridOf(number)), options);
    if (process_.dead() || (!seq.ok() && seq.error().code != ErrorCode::kInvalidArgument)) return;
    const auto names = [&](uint64_t at) {
      return seq.error().message.find(ToHex(CursorOf(at, plan_.cursor_bytes))) != std::string::npos;
    };
    if (!seq.ok() && names(number - 2) && names(number - 1)) return;
    world_.Breach("I5", plan_.name + " was set back, and was not told so with both cursors", process_.name());
  }

  bool PublishNext(uint64_t number) {
    if (number > 2 && world_.Chance(plan_.rewinds_share)) PublishRewound(number);
    const bool in_parts = plan_.parts_every > 0 && number % plan_.parts_every == 0;
    for (;;) {
      const Result<uint64_t> seq = in_parts ? PublishInParts(number) : PublishWhole(number);
      if (process_.dead()) return false;
      if (seq.ok()) {
        published_seq_ = *seq;
        published_number_ = number;
        return true;
      }
      if (!Continues(seq.error())) return false;
    }
  }

  Result<uint64_t> PublishWhole(uint64_t number) {
    return Timed("Publish",
                 [&] { return producer_->Publish(BatchOf(plan_.name, number, GridOf(number)), OptionsFor(number)); });
  }

  Result<uint64_t> PublishInParts(uint64_t number) {
    const auto parts = std::make_shared<Parts>();
    parts->ticket = BW_TRY(world_.Call(
        process_, "NextTicket", {}, [&] { return producer_->NextTicket(GridOf(number)); }, {.tells_of_commits = true}));
    const bool gathered = Gather(number, parts);
    std::vector<PartReceipt> receipts;
    for (const auto& of_range : parts->receipts) {
      if (!of_range.empty()) receipts.push_back(of_range[world_.Below(of_range.size())]);
    }
    // Nobody takes its tickets any more: what it should have been told by now, it would be told at the next start.
    if (!gathered && ++in_vain_ == kGatherTriesMax) return Error{ErrorCode::kClosed, "no worker ever answers"};
    if (!gathered || world_.Chance(0.1)) {
      // Given up. Its receipts must be worth nothing to the ticket that comes next.
      producer_->DropTickets();
      if (gathered) TryStale(number, receipts);
      return Error{ErrorCode::kUnavailable, "the ticket was dropped"};
    }
    Result<uint64_t> seq = Timed("PublishParts", [&] { return producer_->PublishParts(receipts, OptionsFor(number)); });
    if (!seq.ok()) producer_->DropTickets();
    return seq;
  }

  void TryStale(uint64_t number, const std::vector<PartReceipt>& receipts) {
    if (!producer_->NextTicket(GridOf(number)).ok()) return;
    const Result<uint64_t> seq = producer_->PublishParts(receipts, OptionsFor(number));
    if (seq.ok()) world_.Breach("I5", plan_.name + " could publish receipts of a ticket that it had dropped");
    producer_->DropTickets();
  }

  // Two workers write half of the batch each; some are doubled, and some die.
  bool Gather(uint64_t number, const std::shared_ptr<Parts>& parts) {
    const Grid grid = GridOf(number);
    const uint32_t half = grid.dp / 2;
    parts->receipts.resize(2);
    const TimePoint deadline = After(process_.clock().Now(), kWorkerTime);
    for (uint32_t side = 0; side < 2; ++side) {
      const GridRange range{.dp_begin = side * half, .dp_count = half, .cp_begin = 0, .cp_count = grid.cp};
      const int workers = world_.Chance(0.3) ? 2 : 1;
      for (int i = 0; i < workers; ++i) StartWorker(number, range, side, parts);
    }
    while (!parts->complete() && process_.clock().Now() < deadline) SleepFor(process_, std::chrono::milliseconds(250));
    return parts->complete();
  }

  void StartWorker(uint64_t number, GridRange range, uint32_t side, const std::shared_ptr<Parts>& parts) {
    World& world = world_;
    Process& worker = world.Spawn(plan_.name + ".worker");
    worker.Run([&world, &worker, name = plan_.name, number, range, side, parts] {
      std::optional<Stream> stream = OpenStream(world, worker);
      if (!stream) return;
      const GlobalBatch slices = PartOf(name, number, range);
      for (int attempt = 0; attempt < 3 && !worker.dead(); ++attempt) {
        Result<PartReceipt> receipt = world.Call(worker, "WritePart", minutes(2),
                                                 [&] { return stream->WritePart(parts->ticket, range, slices); });
        if (worker.dead() || !receipt.ok()) continue;
        parts->receipts[side].push_back(*std::move(receipt));
        return;
      }
    });
  }

  World& world_;
  Process& process_;
  const std::shared_ptr<Source> source_;
  const ProducerPlan& plan_;  // Of the source.
  const bool reopens_;
  Producer* producer_ = nullptr;
  int in_vain_ = 0;             // Tickets.
  int stalls_ = 0;              // One after the other.
  uint64_t published_seq_ = 0;  // Of this holder's last batch.
  uint64_t published_number_ = 0;
};

using Sources = std::vector<std::shared_ptr<Source>>;  // Shared: see Source.

// One process: all that is left of its sources, side by side, on one stream.
void RunSources(World& world, Process& process, const Sources& sources) {
  // Shared by the fibres of the process, of which none is the last for certain.
  const auto stream = std::make_shared<std::optional<Stream>>(OpenStream(world, process));
  for (const std::shared_ptr<Source>& source : sources) {
    if (source->done) continue;
    process.Run([&world, &process, source, stream] { ProducerProgram(world, process, source).Run(*stream); });
  }
}

}  // namespace

void KeepProducers(World& world, const std::vector<ProducerPlan>& plans) {
  Sources sources;
  for (const ProducerPlan& plan : plans) sources.push_back(std::make_shared<Source>(Source{.plan = plan}));
  std::vector<Process*> running;
  while (!std::ranges::all_of(sources, &Source::done, [](const auto& source) -> const Source& { return *source; })) {
    std::erase_if(running, [](const Process* process) { return process->idle(); });
    // A stopped holder is replaced, as an orchestrator does that no longer hears of it; it may come back.
    const bool all_stopped = std::ranges::all_of(running, [](const Process* process) { return process->stopped(); });
    if (running.empty() || (all_stopped && world.Chance(0.2)) || (world.storming() && world.Chance(0.002))) {
      Process& process = world.Spawn(plans.front().name);
      running.push_back(&process);
      process.Run([&world, &process, sources] { RunSources(world, process, sources); });
    }
    world.Sleep(seconds(1));
    // Those that are at their end, and have more to come.
    for (const std::shared_ptr<Source>& source : sources) {
      if (!source->done || source->plan.more_batches == 0 || std::exchange(source->reopens, true)) continue;
      source->plan.batches += source->plan.more_batches;
      source->done = false;
    }
  }
}

}  // namespace batchweave::sim
