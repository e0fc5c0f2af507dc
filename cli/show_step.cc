#include "cli/show_step.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ranges>

#include "batchweave/stream/describe.h"
#include "cli/stream_json.h"
#include "cli/text.h"

namespace batchweave::cli {
namespace {

// A grid of thousands would push everything else off the screen.
constexpr size_t kSlicesShownMax = 64;

Json PartsJson(const StepDescription& step) {
  Json parts = Json::array();
  for (size_t i = 0; i < step.keys.size(); ++i) {
    const Part& part = step.entry.parts[i];
    Json json = {{"key", step.keys[i]},
                 {"object_bytes", part.object_bytes},
                 {"footer_bytes", part.footer_bytes},
                 {"dp_begin", part.range.dp_begin},
                 {"dp_count", part.range.dp_count},
                 {"cp_begin", part.range.cp_begin},
                 {"cp_count", part.range.cp_count}};
    AddBytes(json, "provenance", step.provenance[i]);
    parts.push_back(std::move(json));
  }
  return parts;
}

void PrintJson(Console& console, const StepDescription& step) {
  Json json = EntryJson(step.step, step.entry);
  json["objects"] = PartsJson(step);
  Json slices = Json::array();
  for (const SliceDescription& slice : step.slices) {
    slices.push_back({{"dp", slice.at.dp},
                      {"cp", slice.at.cp},
                      {"size_bytes", slice.size_bytes},
                      {"offset", slice.offset},
                      {"object", slice.part}});
  }
  json["slices"] = std::move(slices);
  console.PrintJson(json);
}

void PrintSlices(Console& console, const StepDescription& step) {
  const bool has_parts = step.keys.size() > 1;
  Table table(has_parts ? std::vector<std::string>{">DP", ">CP", ">BYTES", ">OFFSET", ">OBJECT"}
                        : std::vector<std::string>{">DP", ">CP", ">BYTES", ">OFFSET"});
  for (const SliceDescription& slice : step.slices | std::views::take(kSlicesShownMax)) {
    std::vector<std::string> cells = {fmt::format("{}", slice.at.dp), fmt::format("{}", slice.at.cp),
                                      Grouped(slice.size_bytes), Grouped(slice.offset)};
    if (has_parts) cells.push_back(fmt::format("{}", slice.part));
    table.AddRow(std::move(cells));
  }
  console.Print("\n" + table.Format("  "));
  if (step.slices.size() > kSlicesShownMax) {
    console.Print(fmt::format("  and {} more: --json lists all\n", Grouped(step.slices.size() - kSlicesShownMax)));
  }
}

void PrintObjects(Console& console, const StepDescription& step) {
  for (size_t i = 0; i < step.keys.size(); ++i) {
    console.Print(fmt::format("  {:<14}{}\n  {:14}{}\n", step.keys.size() == 1 ? "object" : fmt::format("object {}", i),
                              step.keys[i], "", HumanSize(step.entry.parts[i].object_bytes)));
    if (!step.provenance[i].empty()) {
      console.Print(fmt::format("  {:<14}{}\n", "provenance", TextOrHex(step.provenance[i])));
    }
  }
}

void PrintText(Console& console, Stream& stream, const StepDescription& step) {
  const Entry& entry = step.entry;
  const auto line = [&](std::string_view label, std::string_view value) {
    console.Print(fmt::format("  {:<14}{}\n", label, value));
  };
  const Duration age = stream.env().clock.WallNow() - Duration(entry.committed_at_ns);
  console.Print(fmt::format("step {} of {}\n", step.step.value, stream.name()));
  line("producer", entry.producer);
  line("incarnation", fmt::format("{}", entry.incarnation.value));
  line("seq", fmt::format("{}", entry.seq));
  line("committed", fmt::format("{}, {}", UtcTime(entry.committed_at_ns), Ago(age)));
  line("grid", fmt::format("{} (dp x cp), {}", GridText(entry.grid), Counted(entry.grid.slices(), "slice")));
  line("payload", fmt::format("{}, {}", HumanSize(PayloadBytes(entry)), Counted(entry.samples, "sample")));
  line("content type", entry.content_type.empty() ? "none" : entry.content_type);
  if (entry.schema_hash != 0) line("schema hash", fmt::format("{:016x}", entry.schema_hash));
  line("cursor", TextOrHex(entry.cursor));
  line("metadata", TextOrHex(entry.metadata));
  line("digest", ToHex(entry.digest));
  PrintObjects(console, step);
  PrintSlices(console, step);
}

}  // namespace

Result<void> ShowStep(Console& console, Stream& stream, Step step) {
  const StepDescription description = BW_TRY(DescribeStep(stream, step));
  if (console.json()) {
    PrintJson(console, description);
  } else {
    PrintText(console, stream, description);
  }
  return {};
}

}  // namespace batchweave::cli
