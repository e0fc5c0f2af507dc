#include "examples/demo/process/progress_report.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

namespace batchweave::demo {
namespace {

using Event = ProgressReport::Event;

std::string_view NameOf(Event event) {
  switch (event) {
    case Event::kBegin: return "begin";
    case Event::kStep: return "step";
    case Event::kEnd: return "end";
  }
  return "";
}

}  // namespace

void PrintReport(const ProgressReport& report) {
  const nlohmann::ordered_json json = {{"event", NameOf(report.event)}, {"at", report.at},
                                       {"share", report.share},         {"saved", report.saved},
                                       {"bytes", report.bytes},         {"requests", report.requests}};
  fmt::print("{}\n", json.dump());
  std::fflush(stdout);
}

std::optional<ProgressReport> ParseReport(std::string_view line) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  for (const char* key : {"at", "share", "saved", "bytes", "requests"}) {
    if (!json.contains(key) || !json[key].is_number()) return std::nullopt;
  }
  ProgressReport report{.at = json["at"],
                        .share = json["share"],
                        .saved = json["saved"],
                        .bytes = json["bytes"],
                        .requests = json["requests"]};
  for (const Event event : {Event::kBegin, Event::kStep, Event::kEnd}) {
    report.event = event;
    if (json.contains("event") && json["event"] == NameOf(event)) return report;
  }
  return std::nullopt;
}

}  // namespace batchweave::demo
