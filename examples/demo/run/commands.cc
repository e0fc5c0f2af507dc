#include "examples/demo/run/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace batchweave::demo {
namespace {

void Append(std::vector<std::string>& arguments, std::vector<std::string> more) {
  for (std::string& argument : more) arguments.push_back(std::move(argument));
}

std::string Text(uint64_t number) { return std::to_string(number); }

// As short as it may be said from the current folder.
std::string Shortest(const std::string& path) {
  std::error_code failed;
  const std::string relative = std::filesystem::relative(path, failed).string();
  return failed || relative.starts_with("..") ? path : relative;
}

}  // namespace

Commands::Commands(JobOptions job, std::string programs, std::string batchweave)
    : job_(std::move(job)), programs_(std::move(programs)), batchweave_(std::move(batchweave)) {}

Child::Command Commands::Make(std::string name, std::string program) const {
  std::string log_path = fmt::format("{}/{}.log", job_.logs(), name);
  return {.name = std::move(name), .arguments = {std::move(program)}, .log_path = std::move(log_path)};
}

Child::Command Commands::Producer(uint32_t part, uint64_t pace_ms) const {
  Child::Command command = Make(ProducerName(part), programs_ + "/demo_producer");
  Append(command.arguments, JobArguments(job_));
  Append(command.arguments, {"--part", Text(part), "--pace-ms", Text(pace_ms)});
  return command;
}

Child::Command Commands::Rank(const RankPlace& place) const {
  Child::Command command = Make(RankName(place.group, place.rank), programs_ + "/demo_rank");
  Append(command.arguments, {job_.corpus.directory, "--record", RecordOf(place.group, place.rank),          //
                             "--dp-rank", Text(place.rank.dp_rank), "--dp-size", Text(place.rank.dp_size),  //
                             "--cp-rank", Text(place.rank.cp_rank), "--cp-size", Text(place.rank.cp_size),  //
                             "--group", place.group, "--session", Text(place.session.value),                //
                             "--start-step", Text(place.start_step), "--pace-ms", Text(place.pace_ms)});
  if (place.end_step.has_value()) Append(command.arguments, {"--end-step", Text(*place.end_step)});
  if (!job_.is_local()) Append(command.arguments, {"--store", job_.store_url});
  return command;
}

Child::Command Commands::Reference() const {
  Child::Command command = Make("reference", programs_ + "/demo_reference");
  JobOptions without_stream = job_;
  without_stream.store_url.clear();
  Append(command.arguments, JobArguments(without_stream));
  Append(command.arguments, {"--record", RecordOfReference()});
  return command;
}

Child::Command Commands::Verify() const {
  Child::Command command = Make("verify", batchweave_);
  Append(command.arguments, {"verify", "--deep", StreamUrl()});
  return command;
}

std::string Commands::RecordOf(const std::string& group, const MeshRank& rank) const {
  return fmt::format("{}/{}.record", job_.records(), RankName(group, rank));
}

std::string Commands::RecordOfReference() const { return job_.records() + "/reference.record"; }

std::string Commands::StreamUrl() const {
  if (job_.is_local()) return fmt::format("{}/{}", Shortest(job_.store()), kStreamName);
  const std::string& url = job_.store_url;
  const size_t query = std::min(url.find('?'), url.size());
  return fmt::format("{}/{}{}", url.substr(0, query), kStreamName, url.substr(query));
}

std::string Commands::ForPeople(std::string_view subcommand) const {
  // A query has characters that a shell would take for its own.
  const std::string url = job_.is_local() ? StreamUrl() : fmt::format("'{}'", StreamUrl());
  return fmt::format("{} {} {}", Shortest(batchweave_), subcommand, url);
}

}  // namespace batchweave::demo
