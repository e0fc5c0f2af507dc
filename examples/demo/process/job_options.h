// What all programs of the demo agree on: where everything lies, and how the corpus is packed.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "examples/demo/data/batch_source.h"
#include "examples/demo/data/corpus.h"

namespace batchweave::demo {

inline constexpr std::string_view kStreamName = "demo";

struct JobOptions {
  CorpusOptions corpus;
  PackingOptions packing{.parts = 3};  // One part a producer.
  std::string store_url{};             // Of the folder that holds the stream; empty: it lies below corpus.directory.

  bool is_local() const { return store_url.empty(); }
  std::string store() const { return is_local() ? corpus.directory + "/streams" : store_url; }
  // Below corpus.directory.
  std::string records() const { return corpus.directory + "/records"; }
  std::string logs() const { return corpus.directory + "/logs"; }
};

// Lets `app` take them from its command line.
void AddJobOptions(CLI::App& app, JobOptions& options);

// What a program's command line must hold to get the same options.
std::vector<std::string> JobArguments(const JobOptions& options);

}  // namespace batchweave::demo
