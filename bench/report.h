// How figures are shown: to people as a table, to programs as one line of JSON.
#pragma once

#include <string>

#include "bench/benchmark.h"

namespace batchweave::bench {

// True where the figure has no target, or meets it.
bool MeetsTarget(const Figure& figure);

// A line a figure: key, value, target, whether it is met, meaning.
std::string ToTable(const Report& report);

// {"key": value, ...} on one line, in the order of the report. Whole numbers have no fraction.
std::string ToJson(const Report& report);

}  // namespace batchweave::bench
