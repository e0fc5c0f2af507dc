#include "examples/demo/process/job_options.h"

namespace batchweave::demo {

void AddJobOptions(CLI::App& app, JobOptions& options) {
  app.add_option("directory", options.corpus.directory, "where fetch.sh put the data")->required();
  app.add_option("--store", options.store_url, "URL of the folder for the stream; without it, it lies beside the data");
  app.add_option("--keep-one-in", options.corpus.keep_one_in, "use each Nth sample only")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--parts", options.packing.parts, "shares of the corpus, one a producer")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--sequence-length", options.packing.sequence_length, "positions of a sequence")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

std::vector<std::string> JobArguments(const JobOptions& options) {
  std::vector<std::string> arguments = {options.corpus.directory,
                                        "--keep-one-in",
                                        std::to_string(options.corpus.keep_one_in),
                                        "--parts",
                                        std::to_string(options.packing.parts),
                                        "--sequence-length",
                                        std::to_string(options.packing.sequence_length)};
  if (!options.is_local()) arguments.insert(arguments.end(), {"--store", options.store_url});
  return arguments;
}

}  // namespace batchweave::demo
