#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "batchweave/format/keys.h"
#include "batchweave/lifecycle/delete_stream.h"
#include "batchweave/stream/stream_url.h"
#include "cli/commands.h"
#include "cli/confirm.h"
#include "cli/progress_bar.h"
#include "cli/target.h"
#include "cli/text.h"

namespace batchweave::cli {
namespace {

Result<void> CheckThatItIsThere(ObjectStore& store, const std::string& name) {
  const Result<uint64_t> size = store.Stat(StreamJsonKey(name));
  if (FailedWith(size, ErrorCode::kNotFound)) {
    return Error{ErrorCode::kNotFound, fmt::format("no such stream: name={}", name)};
  }
  BW_TRY(size);
  return {};
}

Result<void> Delete(Console& console, const std::string& url, bool yes) {
  const StreamUrl split = BW_TRY(SplitStreamUrl(url));
  const std::unique_ptr<OwnedEnv> env = BW_TRY(OpenEnv(split.folder, kCommandEnv));
  BW_TRY(CheckThatItIsThere(env->env().store, split.name));
  BW_TRY(Confirm(console, yes,
                 fmt::format("all data of stream {} is removed, for ever, and its name is not used again", split.name),
                 split.name));
  DeleteReport report;
  {
    ProgressBar bar(console, env->env().clock);
    const auto on_progress = [&](const DeleteReport& now) {
      bar.Update("objects removed", now.objects, 0, Unit::kThings);
    };
    report = BW_TRY(DeleteStream(env->env(), split.name, CommitDeadline(env->env()), on_progress));
  }
  if (console.json()) {
    console.PrintJson({{"name", split.name},
                       {"deleted", true},
                       {"objects", report.objects},
                       {"not_understood", report.not_understood}});
    return UnlessUploadsFailed(report.uploads_error);
  }
  console.Print(fmt::format("deleted {}: removed {}\n", split.name, Counted(report.objects, "object")));
  if (report.not_understood > 0) {
    console.Print(fmt::format("not understood, left alone: {}\n", Counted(report.not_understood, "key")));
  }
  return UnlessUploadsFailed(report.uploads_error);
}

}  // namespace

void AddDelete(CommandLine& line) {
  const auto yes = std::make_shared<bool>(false);
  line.Add({.name = "delete",
            .description = "remove a stream with all its data, for ever; stopped, it is run again and goes on",
            .examples = "  batchweave delete file:///data/runs/llm-7b\n"
                        "  batchweave delete --yes ./runs/llm-7b --json"},
           UrlOf::kStream, [yes](Console& console, const std::string& url) { return Delete(console, url, *yes); })
      .Flag("-y,--yes", *yes, "do not ask for the stream's name to be typed");
}

}  // namespace batchweave::cli
