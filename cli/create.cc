#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "batchweave/format/keys.h"
#include "batchweave/stream/stream_url.h"
#include "cli/commands.h"
#include "cli/target.h"

namespace batchweave::cli {
namespace {

Result<void> Create(Console& console, const std::string& url) {
  const StreamUrl split = BW_TRY(SplitStreamUrl(url));
  const std::unique_ptr<OwnedEnv> env = BW_TRY(OpenEnv(split.folder, kCommandEnv));
  // Of a store that cannot be reached a person is told at once: who tries its writes out has more patience.
  const Result<Bytes> reached = env->env().store.Read(StreamJsonKey(split.name));
  if (!reached.ok() && !FailedWith(reached, ErrorCode::kNotFound)) return reached.error();
  const Stream stream = BW_TRY(Stream::Create(env->env(), split.name));
  if (console.json()) {
    console.PrintJson({{"name", stream.name()}, {"stream_id", ToString(stream.id())}, {"created", true}});
    return {};
  }
  console.Print(fmt::format("created {} in {}, stream id {}\n", stream.name(), split.folder, ToString(stream.id())));
  return {};
}

}  // namespace

void AddCreate(CommandLine& line) {
  line.Add({.name = "create",
            .description = "make a new stream, after a short test of the store",
            .examples = "  batchweave create file:///data/runs/llm-7b"},
           UrlOf::kStream, Create);
}

}  // namespace batchweave::cli
