#include <fmt/format.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "batchweave/stream/read_slice.h"
#include "cli/commands.h"
#include "cli/progress_bar.h"
#include "cli/target.h"
#include "cli/text.h"

namespace batchweave::cli {
namespace {

struct Options {
  uint64_t step = 0;
  uint64_t dp = 0;
  uint64_t cp = 0;
};

// A coordinate is at most 2^32 - 1; what is more than that is in no grid.
Result<uint32_t> CoordinateOf(std::string_view option, uint64_t number) {
  if (number <= std::numeric_limits<uint32_t>::max()) return static_cast<uint32_t>(number);
  return Error{ErrorCode::kInvalidArgument, fmt::format("no grid is that large: --{} {}", option, number)};
}

Result<void> Cat(Console& console, const std::string& url, const Options& options) {
  const SliceAddress address{
      .step = {options.step},
      .at = {.dp = BW_TRY(CoordinateOf("dp", options.dp)), .cp = BW_TRY(CoordinateOf("cp", options.cp))}};
  Target target = BW_TRY(OpenTarget(url));
  Bytes slice;
  {
    ProgressBar bar(console, target.env->env().clock);
    slice = BW_TRY(ReadSlice(target.stream, address,
                             [&](uint64_t done, uint64_t total) { bar.Update("reading", done, total, Unit::kBytes); }));
  }
  if (!console.json()) {
    console.Write(slice);
    return {};
  }
  console.PrintJson({{"step", options.step},
                     {"dp", options.dp},
                     {"cp", options.cp},
                     {"size_bytes", slice.size()},
                     {"content_hex", ToHex(slice)}});
  return {};
}

}  // namespace

void AddCat(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  line.Add({.name = "cat",
            .description = "the bytes of one slice to standard output; nothing comes out unless all of it is intact",
            .examples = "  batchweave cat file:///data/runs/llm-7b --step 120 --dp 3 --cp 0 > slice.bin"},
           UrlOf::kStream, [options](Console& console, const std::string& url) { return Cat(console, url, *options); })
      .RequiredNumber("-s,--step", options->step, "the step")
      .Number("--dp", options->dp, "data-parallel coordinate in the step's grid")
      .Number("--cp", options->cp, "context-parallel coordinate in the step's grid");
}

}  // namespace batchweave::cli
