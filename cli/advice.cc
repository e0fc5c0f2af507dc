#include "cli/advice.h"

#include <fmt/format.h>

#include "batchweave/stream/stream_url.h"
#include "cli/target.h"

namespace batchweave::cli {
namespace {

constexpr const char* kGoesOn = "run it again: it goes on where it was";

// Of many steps, of which some may be done: each is whole, and none is done twice.
bool GoesOn(std::string_view command) { return command == "reclaim" || command == "delete"; }

std::string NotFound(std::string_view command, std::string_view url) {
  if (command == "ls") return "the URL of ls is that of the folder that holds the streams";
  const Result<StreamUrl> split = SplitStreamUrl(url);
  const std::string folder = split.ok() ? split->folder : ".";
  if (command == "create") return fmt::format("make the folder first: mkdir -p {}", folder);
  if (command == "groups" || command == "checkpoint" || command == "release") {
    return fmt::format("its groups: batchweave groups {}; the streams there: batchweave ls {}", url, folder);
  }
  if (command == "fence") {
    return fmt::format("its producers: batchweave show {}; the streams there: batchweave ls {}", url, folder);
  }
  return fmt::format("what is there: batchweave ls {}", folder);
}

std::string Denied(std::string_view command, std::string_view url) {
  if (command == "groups") {
    return fmt::format("drop a group that nobody needs (batchweave groups {}), or check permissions and space", url);
  }
  if (command == "checkpoint") {
    return fmt::format("release what nobody needs (batchweave groups {}), or check permissions and space", url);
  }
  if (GoesOn(command)) {
    return fmt::format("it needs the rights to list, delete and overwrite there; given them, {}", kGoesOn);
  }
  return "check permissions, free space and quota there";
}

}  // namespace

std::string AdviceFor(ErrorCode code, std::string_view command, std::string_view url) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return fmt::format("how it is used: batchweave {} --help", command);
    case ErrorCode::kNotFound: return NotFound(command, url);
    case ErrorCode::kAlreadyExists: return fmt::format("what is there: batchweave show {}", url);
    case ErrorCode::kUnavailable: return GoesOn(command) ? kGoesOn : "nothing was changed: try again";
    case ErrorCode::kUnknownOutcome:
      if (GoesOn(command)) return kGoesOn;
      return fmt::format("see what happened before trying again: batchweave show {}", url);
    case ErrorCode::kDenied: return Denied(command, url);
    case ErrorCode::kCorrupt:
      if (command == "verify")
        return "keep a copy of what is there; then see docs/protocol.md for what each invariant says";
      return fmt::format("find all that is damaged: batchweave verify --deep {}", url);
    case ErrorCode::kTrimmed: return fmt::format("where the stream begins now: batchweave show {}", url);
    case ErrorCode::kIncompatible: return "use the newer version of batchweave that wrote it";
    case ErrorCode::kUnsuitableStore: return "use another store: docs/protocol.md says what one must give";
    case ErrorCode::kFenced: return "somebody else acted meanwhile: look, and run it again if it is still meant";
    case ErrorCode::kStalled:
    case ErrorCode::kMeshMismatch:
    case ErrorCode::kSealed:
    case ErrorCode::kClosed: return "";
  }
  return "";
}

}  // namespace batchweave::cli
