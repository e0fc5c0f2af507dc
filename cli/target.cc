#include "cli/target.h"

#include <fmt/format.h>

#include <utility>

#include "batchweave/stream/stream_url.h"

namespace batchweave::cli {

Result<Target> OpenTarget(std::string_view url) {
  const StreamUrl split = BW_TRY(SplitStreamUrl(url));
  std::unique_ptr<OwnedEnv> env = BW_TRY(OpenEnv(split.folder, kCommandEnv));
  Stream stream = BW_TRY(Stream::Open(env->env(), split.name));
  return Target{.env = std::move(env), .stream = std::move(stream)};
}

TimePoint CommitDeadline(Env env) { return After(env.clock.Now(), std::chrono::minutes(2)); }

Result<GroupSession> CurrentSession(ManifestLog& log, const std::string& group) {
  const LoggedManifest newest = BW_TRY(log.ReadNewest());
  const GroupRow* row = FindGroup(newest.manifest, group);
  if (row == nullptr) return Error{ErrorCode::kNotFound, fmt::format("no such group: group={}", group)};
  return GroupSession{.group = group, .session = row->session};
}

Result<void> UnlessUploadsFailed(const std::optional<Error>& error) {
  if (!error) return {};
  return Error{error->code, "all else is done, but parts of uploads may be left in the store: " + error->message};
}

}  // namespace batchweave::cli
