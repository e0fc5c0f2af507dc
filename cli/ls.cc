#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "batchweave/stream/describe.h"
#include "cli/commands.h"
#include "cli/stream_json.h"
#include "cli/target.h"
#include "cli/text.h"

namespace batchweave::cli {
namespace {

struct Listed {
  std::string name;
  Result<StreamDescription> description;
};

Result<StreamDescription> Describe(Env env, const std::string& name) {
  Stream stream = BW_TRY(Stream::Open(env, name));
  return DescribeStream(stream);
}

void PrintJson(Console& console, const std::vector<Listed>& streams) {
  Json list = Json::array();
  for (const Listed& listed : streams) {
    if (listed.description.ok()) {
      list.push_back(StreamJson(*listed.description));
      continue;
    }
    const Error& error = listed.description.error();
    list.push_back({{"name", listed.name}, {"error", ErrorCodeName(error.code)}, {"message", error.message}});
  }
  console.PrintJson({{"streams", list}});
}

void PrintTable(Console& console, Env env, const std::vector<Listed>& streams) {
  Table table({"NAME", ">STEPS", "STATE", ">DATA", "NEWEST BATCH"});
  for (const Listed& listed : streams) {
    if (!listed.description.ok()) {
      table.AddRow({listed.name, "", std::string(ErrorCodeName(listed.description.error().code)), "",
                    listed.description.error().message});
      continue;
    }
    const StreamDescription& stream = *listed.description;
    const Entry* newest = stream.newest_entry();
    table.AddRow({stream.name, Grouped(stream.steps()), stream.newest.manifest.sealed ? "sealed" : "open",
                  HumanSize(stream.payload_bytes),
                  newest == nullptr ? "none yet" : Ago(env.clock.WallNow() - Duration(newest->committed_at_ns))});
  }
  console.Print(table.Format(""));
}

// One damaged stream does not hide the others.
Result<void> Ls(Console& console, const std::string& url) {
  const std::unique_ptr<OwnedEnv> env = BW_TRY(OpenEnv(url, kCommandEnv));
  const std::vector<std::string> names = BW_TRY(ListStreams(env->env().store));
  std::vector<Listed> streams;
  for (const std::string& name : names) {
    Result<StreamDescription> description = Describe(env->env(), name);
    // Deleted: its name stays taken, and it is no stream any more.
    if (FailedWith(description, ErrorCode::kNotFound)) continue;
    streams.push_back({.name = name, .description = std::move(description)});
  }
  if (console.json()) {
    PrintJson(console, streams);
  } else if (streams.empty()) {
    console.Note(fmt::format("no streams in {} (of one stream: batchweave show {})", url, url));
  } else {
    PrintTable(console, env->env(), streams);
  }
  return {};
}

}  // namespace

void AddLs(CommandLine& line) {
  line.Add({.name = "ls",
            .description = "list the streams in a folder",
            .examples = "  batchweave ls file:///data/runs\n"
                        "  batchweave ls ./runs --json | jq '.streams[].name'"},
           UrlOf::kFolder, Ls);
}

}  // namespace batchweave::cli
