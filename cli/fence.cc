#include "batchweave/lifecycle/fence.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "batchweave/log/producer_rows.h"
#include "cli/commands.h"
#include "cli/confirm.h"
#include "cli/target.h"
#include "cli/text.h"

namespace batchweave::cli {
namespace {

struct Options {
  std::string producer;
  bool yes = false;
};

Result<ProducerRow> FindProducer(ManifestLog& log, const Manifest& manifest, const std::string& producer) {
  for (const ProducerRow& row : BW_TRY(ReadRows(log, manifest))) {
    if (row.producer == producer) return row;
  }
  return Error{ErrorCode::kNotFound, fmt::format("no such producer: producer={}", producer)};
}

Result<void> Fence(Console& console, const std::string& url, const Options& options) {
  Target target = BW_TRY(OpenTarget(url));
  ManifestLog& log = target.stream.log();
  const Manifest before = BW_TRY(log.ReadNewest()).manifest;
  const ProducerRow row = BW_TRY(FindProducer(log, before, options.producer));
  BW_TRY(Confirm(console, options.yes,
                 fmt::format("fencing stops producer {} for good where it still runs, and what it has not committed is "
                             "removed by the next reclaim; it has committed {}",
                             options.producer, row.seq == 1 ? "1 batch" : Grouped(row.seq) + " batches"),
                 options.producer));
  const Manifest after = BW_TRY(FenceProducer(log, options.producer, CommitDeadline(target.stream.env()))).manifest;
  const bool fenced = BW_TRY(FindProducer(log, after, options.producer)).incarnation != row.incarnation;
  if (console.json()) {
    console.PrintJson({{"name", target.stream.name()},
                       {"producer", options.producer},
                       {"fenced", fenced},
                       {"version", after.version.value}});
    return {};
  }
  console.Print(fenced ? fmt::format("producer {} is fenced: whoever opens the name again goes on at its committed "
                                     "cursor\n",
                                     options.producer)
                       : fmt::format("nothing to fence: {}\n",
                                     after.sealed ? "the stream is sealed" : "the producer has finished"));
  return {};
}

}  // namespace

void AddFence(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.Add({.name = "fence",
            .description = "end a producer that never comes back, so that what it left can be reclaimed",
            .examples = "  batchweave fence file:///data/runs/llm-7b tok-03\n"
                        "  batchweave fence --yes ./runs/llm-7b tok-03"},
           UrlOf::kStream,
           [options](Console& console, const std::string& url) { return Fence(console, url, *options); })
      .Argument("PRODUCER", options->producer, "its name; batchweave show lists them")
      .Flag("-y,--yes", options->yes, "do not ask");
}

}  // namespace batchweave::cli
