#include "examples/demo/process/part_workers.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <utility>

namespace batchweave::demo {
namespace {

constexpr uint32_t kWorkers = 2;
// A hundred times what a batch takes, on a machine that does much else.
constexpr Duration kAnswerMax = std::chrono::minutes(1);

// The rows that worker `index` fills.
GridRange ShareOf(Grid grid, uint32_t index) {
  const uint32_t begin = grid.dp * index / kWorkers;
  const uint32_t end = grid.dp * (index + 1) / kWorkers;
  return {.dp_begin = begin, .dp_count = end - begin, .cp_begin = 0, .cp_count = grid.cp};
}

}  // namespace

Result<PartWorkers> PartWorkers::Start(const JobOptions& job, const std::string& programs, Clock& clock) {
  PartWorkers workers(clock);
  for (uint32_t index = 0; index < kWorkers; ++index) {
    Child::Command command{
        .name = fmt::format("worker {} of tokenizer-{}", index, job.packing.part),
        .arguments = {programs + "/demo_part_worker"},
        .log_path = fmt::format("{}/tokenizer-{}-worker-{}.log", job.logs(), job.packing.part, index)};
    for (std::string& argument : JobArguments(job)) command.arguments.push_back(std::move(argument));
    command.arguments.push_back("--part");
    command.arguments.push_back(std::to_string(job.packing.part));
    Child child = BW_TRY(Child::Start(command));
    workers.workers_.push_back({.command = std::move(command), .child = std::move(child)});
  }
  return workers;
}

Result<PartWorkers::Batch> PartWorkers::Make(const PartTicket& ticket, const std::string& cursor) {
  for (uint32_t index = 0; index < kWorkers; ++index) {
    const PartOrder order{.ticket = ticket, .range = ShareOf(ticket.grid, index), .cursor = cursor};
    workers_[index].child.WriteLine(ToLine(order));
  }
  Batch batch;
  const TimePoint deadline = After(clock_->Now(), kAnswerMax);
  for (Worker& worker : workers_) {
    const std::string line = BW_TRY(AwaitLine(worker.child, worker.command, *clock_, deadline));
    PartDone done = BW_TRY(ParsePartDone(line));
    batch.receipts.push_back(std::move(done.receipt));
    batch.cursor = std::move(done.cursor);
    batch.samples_ended = done.samples_ended;
  }
  return batch;
}

std::string ProgramsFolder() { return std::filesystem::canonical("/proc/self/exe").parent_path().string(); }

}  // namespace batchweave::demo
