#include "batchweave/lifecycle/delete_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "batchweave/base/fault_point.h"
#include "batchweave/format/keys.h"
#include "batchweave/format/stream_info.h"
#include "batchweave/lifecycle/delete_batch.h"
#include "batchweave/log/change.h"
#include "batchweave/log/read_stream_info.h"

namespace batchweave {
namespace {

Result<void> CommitDeleted(ManifestLog& log, TimePoint deadline) {
  const Result<LoggedManifest> committed = CommitChange(log, deadline, [](Manifest& next) -> Result<bool> {
    next.deleted = true;
    return true;
  });
  if (committed.ok()) return {};
  // An earlier run, or another one, has committed it: where the log itself says so.
  if (FailedWith(log.ReadNewest(), ErrorCode::kNotFound)) return {};
  return committed.error();
}

class Remover {
 public:
  Remover(Env env, const StreamKeys& keys, const std::function<void(const DeleteReport&)>& progress)
      : store_(env.store), uploads_(env.uploads), keys_(keys), progress_(progress) {}

  Result<DeleteReport> Run() {
    // First: what is completed after that is found below, and nothing else is.
    const Result<void> aborted = AbortUploads();
    if (!aborted.ok()) report_.uploads_error = aborted.error();
    BW_TRY(RemoveAllBut(keys_.ManifestPrefix()));
    BW_FAULT_POINT("delete.data_removed");
    BW_TRY(RemoveVersions());
    return report_;
  }

 private:
  Result<void> RemoveAllBut(const std::string& kept_prefix) {
    BW_TRY(ForEachObject(store_, keys_.StreamPrefix(), [&](const ListedObject& object) -> Result<void> {
      if (object.key.starts_with(kept_prefix)) return {};
      return Remove(object.key);
    }));
    return Flush();
  }

  // From the oldest to the newest, so that as long as there is a version the newest is the one that says "deleted".
  Result<void> RemoveVersions() {
    Version oldest{UINT64_MAX};
    Version newest{};
    BW_TRY(ForEachObject(store_, keys_.ManifestPrefix(), [&](const ListedObject& object) -> Result<void> {
      const std::optional<ParsedKey> key = ParseKey(keys_, object.key);
      if (!key || key->kind != ParsedKey::Kind::kManifest) return Remove(object.key);
      oldest = std::min(oldest, key->version);
      newest = std::max(newest, key->version);
      return {};
    }));
    for (Version version = oldest; version <= newest; version = Next(version)) BW_TRY(Remove(keys_.Manifest(version)));
    return Flush();
  }

  Result<void> Remove(const std::string& key) {
    if (!ParseKey(keys_, key)) {
      report_.not_understood += 1;
      return {};
    }
    batch_.push_back(key);
    return batch_.size() < kDeleteBatch ? Result<void>() : Flush();
  }

  Result<void> Flush() {
    if (batch_.empty()) return {};
    BW_TRY(DeleteBatch(store_, batch_));
    report_.objects += batch_.size();
    batch_.clear();
    if (progress_) progress_(report_);
    return {};
  }

  // Those that died at one have left its parts.
  Result<void> AbortUploads() {
    if (uploads_ == nullptr) return {};
    const std::vector<UnfinishedUpload> listed = BW_TRY(uploads_->ListUnfinished(keys_.StreamPrefix()));
    for (const UnfinishedUpload& upload : listed) {
      if (ParseKey(keys_, upload.key)) BW_TRY(uploads_->AbortUnfinished(upload));
    }
    return {};
  }

  ObjectStore& store_;
  UnfinishedUploads* const uploads_;  // May be null.
  const StreamKeys& keys_;
  const std::function<void(const DeleteReport&)>& progress_;
  DeleteReport report_;
  std::vector<std::string> batch_;
};

}  // namespace

Result<DeleteReport> DeleteStream(Env env, std::string_view name, TimePoint deadline,
                                  const std::function<void(const DeleteReport&)>& progress) {
  BW_TRY(CheckName("stream", name));
  auto [info, json] = BW_TRY(ReadStreamInfo(env.store, name));
  const StreamKeys keys{.name = std::string(name), .stream_id = info.stream_id};
  if (!info.deleted) {
    ManifestLog log(env, keys, HashOf128(json));
    BW_TRY(CommitDeleted(log, deadline));
    BW_FAULT_POINT("delete.committed");
    info.deleted = true;
    BW_TRY(PutBytes(env.store, StreamJsonKey(name), EncodeStreamInfo(info), PutMode::kOverwrite));
    BW_FAULT_POINT("delete.marked");
  }
  return Remover(env, keys, progress).Run();
}

}  // namespace batchweave
