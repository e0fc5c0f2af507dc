#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>

#include "batchweave/stream/describe.h"
#include "cli/commands.h"
#include "cli/holds.h"
#include "cli/show_step.h"
#include "cli/stream_json.h"
#include "cli/target.h"
#include "cli/text.h"

namespace batchweave::cli {
namespace {

constexpr size_t kCursorShownMax = 40;  // Characters; --json has all of it.
constexpr size_t kProducersShownMax = 100;

std::string_view StateName(ProducerRow::State state) {
  switch (state) {
    case ProducerRow::State::kOpen: return "open";
    case ProducerRow::State::kFinished: return "finished";
    case ProducerRow::State::kForgotten: return "forgotten";
    case ProducerRow::State::kGone: return "gone";
  }
  return "unknown";
}

Json ProducerJson(const ProducerDescription& producer) {
  const ProducerRow& row = producer.row;
  Json json = {{"producer", row.producer},
               {"state", StateName(row.state)},
               {"incarnation", row.incarnation.value},
               {"seq", row.seq},
               {"step", row.step ? Json(row.step->value) : Json()},
               {"committed_at", producer.committed_at_ns ? Json(UnixSeconds(*producer.committed_at_ns)) : Json()}};
  if (producer.cursor) AddBytes(json, "cursor", *producer.cursor);
  return json;
}

void PrintJson(Console& console, Stream& handle, const StreamDescription& stream) {
  Json json = StreamJson(stream);
  json["version_hash"] = ToHex(stream.newest.hash);
  Json producers = Json::array();
  for (const ProducerDescription& producer : stream.producers) producers.push_back(ProducerJson(producer));
  json["producers"] = std::move(producers);
  json["groups"] = GroupsJson(handle.log(), stream.newest.manifest);
  console.PrintJson(json);
}

std::string StepsText(const Manifest& manifest) {
  const uint64_t first = manifest.first_step.value;
  const uint64_t next = manifest.next_step.value;
  const std::string range = first == next ? "none" : fmt::format("{} to {}", first, next - 1);
  const std::string trimmed = first == 0 ? "" : fmt::format(", {} trimmed", Counted(first, "step"));
  return fmt::format("{}{}, {}", range, trimmed, manifest.sealed ? "sealed: nothing follows" : "open");
}

void PrintProducers(Console& console, const StreamDescription& stream, Duration now) {
  if (stream.producers.empty()) {
    console.Print("\n  no producer has opened it yet\n");
    return;
  }
  Table table({"PRODUCER", "STATE", ">BATCHES", ">NEWEST STEP", ">INCARNATION", "COMMITTED", "CURSOR"});
  for (const ProducerDescription& producer : stream.producers | std::views::take(kProducersShownMax)) {
    const ProducerRow& row = producer.row;
    table.AddRow({row.producer, std::string(StateName(row.state)), Grouped(row.seq),
                  row.step ? fmt::format("{}", row.step->value) : "none", fmt::format("{}", row.incarnation.value),
                  producer.committed_at_ns ? Ago(now - Duration(*producer.committed_at_ns))
                  : row.step               ? "earlier"
                                           : "never",
                  producer.cursor ? Shortened(TextOrHex(*producer.cursor), kCursorShownMax) : "none"});
  }
  console.Print("\n" + table.Format("  "));
  if (stream.producers.size() > kProducersShownMax) {
    console.Print(
        fmt::format("  and {} more: --json lists all\n", Grouped(stream.producers.size() - kProducersShownMax)));
  }
}

void PrintText(Console& console, Stream& handle, const StreamDescription& stream) {
  const Manifest& manifest = stream.newest.manifest;
  const Duration now = handle.env().clock.WallNow();
  const auto line = [&](std::string_view label, std::string_view value) {
    console.Print(fmt::format("  {:<9}{}\n", label, value));
  };
  console.Print(fmt::format("{}\n", stream.name));
  line("id", ToString(stream.info.stream_id));
  line("created",
       fmt::format("{}, {}", UtcTime(stream.info.created_at_ns), Ago(now - Duration(stream.info.created_at_ns))));
  line("steps", StepsText(manifest));
  if (const Entry* newest = stream.newest_entry()) {
    line("newest", fmt::format("step {} by {}, {}, grid {}", manifest.next_step.value - 1, newest->producer,
                               Ago(now - Duration(newest->committed_at_ns)), GridText(newest->grid)));
  }
  const std::string samples = stream.samples ? ", " + Counted(*stream.samples, "sample") : "";
  line("data", fmt::format("{} in {}{}", HumanSize(stream.payload_bytes), Counted(stream.steps(), "step"), samples));
  line("version", fmt::format("{}", manifest.version.value));
  PrintProducers(console, stream, now);
  console.Print("\n" + GroupsText(handle.log(), manifest));
}

Result<void> Show(Console& console, const std::string& url, std::optional<uint64_t> step) {
  Target target = BW_TRY(OpenTarget(url));
  if (step) return ShowStep(console, target.stream, Step{*step});
  const StreamDescription description = BW_TRY(DescribeStream(target.stream));
  if (console.json()) {
    PrintJson(console, target.stream, description);
  } else {
    PrintText(console, target.stream, description);
  }
  return {};
}

}  // namespace

void AddShow(CommandLine& line) {
  const auto step = std::make_shared<std::optional<uint64_t>>();
  line.Add({.name = "show",
            .description = "a stream with its producers, or all about one step",
            .examples = "  batchweave show file:///data/runs/llm-7b\n"
                        "  batchweave show file:///data/runs/llm-7b --step 120\n"
                        "  batchweave show ./runs/llm-7b --json | jq .next_step"},
           UrlOf::kStream, [step](Console& console, const std::string& url) { return Show(console, url, *step); })
      .Number("-s,--step", *step, "show this step: producer, cursor, slices, objects, metadata, digest");
}

}  // namespace batchweave::cli
