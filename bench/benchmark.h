// What a benchmark is: a name, what it is given, and the figures that it gives. To add one, write its file with a
// function like those at the end, declare that here, and name it in the table of main.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "batchweave/base/clock.h"
#include "batchweave/base/result.h"

namespace batchweave::bench {

struct Settings {
  std::string folder;       // Where fresh folders are made, and removed again.
  size_t rounds_max = 0;    // Of one comparison; it ends earlier where its share of `time_max` is used up.
  Duration time_max{};      // For all comparisons together; setting up is not counted.
  uint64_t data_bytes = 0;  // What one round moves, about.
  uint64_t steps = 0;       // Of a long stream, at least 1000.
  uint64_t processes = 0;   // At once, where there are many.
  std::string url;          // Of a stream that is there.
  uint64_t warm_steps = 0;  // Of that, before the clock starts.
};

// What a figure must be for the project to keep its promise.
struct Target {
  enum class Kind { kAtLeast, kAtMost, kExactly };
  Kind kind;
  double limit = 0;
};

struct Figure {
  std::string key;
  double value = 0;
  std::optional<Target> target;
  std::string meaning;  // One line, for people.
};

using Report = std::vector<Figure>;

struct Benchmark {
  std::string_view name;
  std::string_view summary;
  std::string_view details;         // What each ratio compares with what: its help.
  std::string_view default_folder;  // Empty: the system's folder for temporary files.
  double default_seconds = 30;
  uint64_t default_processes = 100;
  Result<Report> (*run)(const Settings& settings);
};

Result<Report> RunRead(const Settings& settings);
Result<Report> RunCommit(const Settings& settings);
Result<Report> RunOpen(const Settings& settings);
Result<Report> RunPublish(const Settings& settings);
Result<Report> RunReclaim(const Settings& settings);
Result<Report> RunCloud(const Settings& settings);
Result<Report> RunConsume(const Settings& settings);
Result<Report> RunRace(const Settings& settings);
Result<Report> RunSoak(const Settings& settings);

}  // namespace batchweave::bench
