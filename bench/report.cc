#include "bench/report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace batchweave::bench {
namespace {

// Beyond it a double has no fraction anyway.
constexpr double kWholeMax = 1e15;

bool IsWhole(double value) { return std::abs(value) < kWholeMax && std::floor(value) == value; }

// Enough to compare a ratio with its target; more would be noise.
double Rounded(double value) { return std::round(value * 1e4) / 1e4; }

std::string TargetText(const Figure& figure) {
  if (!figure.target) return "";
  const char* verdict = MeetsTarget(figure) ? "met" : "MISSED";
  switch (figure.target->kind) {
    case Target::Kind::kAtLeast: return fmt::format(">= {:g} {}", figure.target->limit, verdict);
    case Target::Kind::kAtMost: return fmt::format("<= {:g} {}", figure.target->limit, verdict);
    case Target::Kind::kExactly: return fmt::format("= {:g} {}", figure.target->limit, verdict);
  }
  return "";
}

}  // namespace

bool MeetsTarget(const Figure& figure) {
  if (!figure.target) return true;
  switch (figure.target->kind) {
    case Target::Kind::kAtLeast: return figure.value >= figure.target->limit;
    case Target::Kind::kAtMost: return figure.value <= figure.target->limit;
    case Target::Kind::kExactly: return figure.value == figure.target->limit;
  }
  return false;
}

std::string ToTable(const Report& report) {
  std::string table;
  for (const Figure& figure : report) {
    table += fmt::format("{:<26} {:>12g}   {:<14} {}\n", figure.key, Rounded(figure.value), TargetText(figure),
                         figure.meaning);
  }
  return table;
}

std::string ToJson(const Report& report) {
  nlohmann::ordered_json json;
  for (const Figure& figure : report) {
    if (IsWhole(figure.value)) {
      json[figure.key] = static_cast<int64_t>(figure.value);
    } else {
      json[figure.key] = Rounded(figure.value);
    }
  }
  return json.dump();
}

}  // namespace batchweave::bench
