#include "sim/mutations.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <ranges>

#include "batchweave/base/check.h"

namespace batchweave::sim {
namespace {

using Json = nlohmann::json;

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

MutationRun RunOne(const MutationInfo& info, const MutationOptions& options) {
  const std::string command =
      fmt::format("'{}' --mutation {} --from {} --seeds {} --jobs {} --first-breach --json", options.binary, info.name,
                  options.first_seed, options.seeds_max, options.jobs);
  const Json json = Json::parse(LastLine(OutputOf(command)), nullptr, /*allow_exceptions=*/false);
  MutationRun run{.mutation = info.mutation};
  if (!json.is_object()) {
    run.by = "the simulator of the mutants did not run: is " + options.binary + " built?";
    return run;
  }
  run.caught = json["violations"].get<uint64_t>() > 0;
  run.seeds = json["seeds"];
  run.by = json["first_breach"];
  return run;
}

}  // namespace

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
