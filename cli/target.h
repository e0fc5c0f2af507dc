// From the URL on the command line to what it means.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "batchweave/base/result.h"
#include "batchweave/lifecycle/group.h"
#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"

namespace batchweave::cli {

// Commands look at the store itself, whatever the URL says of a node cache.
inline const EnvOptions kCommandEnv{.node_cache = false};

// A stream that a command works on.
struct Target {
  std::unique_ptr<OwnedEnv> env;
  Stream stream;
};

// Errors: those of SplitStreamUrl, OpenEnv and Stream::Open.
Result<Target> OpenTarget(std::string_view url);

// How a command ends that has done all else. Errors: `error`, where there is one.
Result<void> UnlessUploadsFailed(const std::optional<Error>& error);

// A commit that is not made by then is reported. Two minutes from now.
TimePoint CommitDeadline(Env env);

// Under which an operator acts for a group: its current session, in the newest version.
// Errors: those of ManifestLog::ReadNewest; kNotFound (no such group).
Result<GroupSession> CurrentSession(ManifestLog& log, const std::string& group);

}  // namespace batchweave::cli
