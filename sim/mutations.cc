#include "sim/mutations.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <ranges>

#include "batchweave/base/check.h"

namespace batchweave::sim {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kSeedsUnmutated = 30;

std::string LastLine(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

// What `command` prints. Its own errors go where ours go.
std::string OutputOf(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  BW_CHECK(pipe != nullptr);
  std::string output;
  std::array<char, 4096> buffer;
  while (const size_t size = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), size);
  (void)pclose(pipe);  // 1 where a breach was found, which the output says.
  return output;
}

// What the mutants' simulator says of its seeds at last; no object where it did not run.
Json ResultOf(const MutationOptions& options, uint64_t seeds, const std::string& more) {
  const std::string command = fmt::format("'{}' --from {} --seeds {} --jobs {} --json {}", options.binary,
                                          options.first_seed, seeds, options.jobs, more);
  return Json::parse(LastLine(OutputOf(command)), nullptr, /*allow_exceptions=*/false);
}

MutationRun RunOne(const MutationInfo& info, const MutationOptions& options) {
  const Json json =
      ResultOf(options, options.seeds_max, fmt::format("--mutation {} --until {}", info.name, info.invariant));
  MutationRun run{.mutation = info.mutation};
  if (!json.is_object()) {
    run.by = "the simulator of the mutants did not run";
    return run;
  }
  run.seeds = json["seeds"];
  run.by = json["found"];
  run.caught = !run.by.empty();
  if (!run.caught) run.by = fmt::format("no breach of {}, in {} others", info.invariant, json["violations"].dump());
  return run;
}

}  // namespace

std::string CheckUnmutated(const MutationOptions& options) {
  const Json json = ResultOf(options, kSeedsUnmutated, "");
  if (!json.is_object()) return "the simulator of the mutants did not run: is " + options.binary + " built?";
  if (json["violations"] != 0) return options.binary + " breaks something with no mutation made";
  return {};
}

std::vector<MutationRun> RunMutations(const MutationOptions& options) {
  std::vector<MutationRun> runs;
  for (const MutationInfo& info : AllMutations()) {
    if (!options.only.empty() && std::ranges::find(options.only, info.mutation) == options.only.end()) continue;
    runs.push_back(RunOne(info, options));
    const MutationRun& run = runs.back();
    fmt::print("{:<8} {:<28} {:>4} seeds  {}\n", run.caught ? "caught" : "GOT AWAY", info.name, run.seeds, run.by);
    std::fflush(stdout);
  }
  return runs;
}

}  // namespace batchweave::sim
