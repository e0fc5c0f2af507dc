#include "batchweave/lifecycle/sweeper.h"

#include <algorithm>
#include <utility>

#include "batchweave/base/fault_point.h"
#include "batchweave/lifecycle/delete_batch.h"

namespace batchweave {

Sweeper::Sweeper(ObjectStore& store, StreamKeys keys, ReclaimOptions options)
    : store_(store), keys_(std::move(keys)), options_(std::move(options)) {}

Result<void> Sweeper::Take(const ListedObject& object, Fate fate) {
  if (fate == Fate::kNotUnderstood) {
    report_.not_understood += 1;
    if (report_.examples.size() < ReclaimReport::kExamplesMax) report_.examples.push_back(object.key);
  }
  if (fate != Fate::kDead) return {};
  batch_.push_back(object.key);
  batch_bytes_ += object.size_bytes;
  return batch_.size() < kDeleteBatch ? Result<void>() : Flush();
}

Result<void> Sweeper::Flush() {
  if (batch_.empty()) return {};
  if (!options_.dry_run) {
    BW_TRY(KeepFolder(keys_.ArchivePrefix(), kept_archive_));
    BW_TRY(KeepFolder(keys_.IntentPrefix(), kept_intent_));
    BW_FAULT_POINT("reclaim.kept");
    BW_TRY(DeleteBatch(store_, batch_));
  }
  report_.objects += batch_.size();
  report_.bytes += batch_bytes_;
  batch_.clear();
  batch_bytes_ = 0;
  if (options_.progress) options_.progress(report_);
  return {};
}

// Some file-backed servers refuse a put that races the removal of a folder's last key. So a folder out of which
// something is deleted first gets a placeholder, for good.
Result<void> Sweeper::KeepFolder(const std::string& prefix, bool& kept) {
  const auto is_in_folder = [&](const std::string& key) { return key.starts_with(prefix); };
  if (kept || std::ranges::none_of(batch_, is_in_folder)) return {};
  const Result<void> put = PutBytes(store_, prefix + "_", {}, PutMode::kCreate);
  if (FailedWith(put, ErrorCode::kUnknownOutcome)) {
    return Error{ErrorCode::kUnavailable, "a placeholder may not be there: run it again: " + put.error().message};
  }
  if (!put.ok() && !FailedWith(put, ErrorCode::kAlreadyExists)) return put.error();
  kept = true;
  return {};
}

}  // namespace batchweave
