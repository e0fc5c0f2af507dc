#include "batchweave/producer/uploader.h"

#include <string>

#include "batchweave/base/fault_point.h"
#include "batchweave/store/retrying_store.h"

namespace batchweave {
namespace {

// One call tries to write an object no longer than this, and a later call tries again: so long may the end of a process
// have to wait for it.
constexpr Duration kUploadTime = std::chrono::seconds(5);

}  // namespace

Result<void> UploadOne(Env env, const StreamKeys& keys, const UploadJob& job) {
  const ProducerState& producer = *job.producer;
  PendingBatch& pending = *job.batch;
  if (!pending.packed) {
    const TgbIdentity identity{.stream_id = keys.stream_id,
                               .producer = producer.name,
                               .incarnation = producer.opened.incarnation,
                               .seq = pending.seq};
    pending.packed = PackBatch(identity, pending.batch, pending.options, env.random.Next());
  }
  const uint64_t nonce = pending.packed->entry.parts.front().nonce;
  const std::string key = keys.Data(producer.name, producer.opened.incarnation, pending.seq, nonce);
  BW_TRY(PutUnique(env, key, pending.packed->object.pieces, After(env.clock.Now(), kUploadTime)));
  BW_FAULT_POINT("upload.done");
  return {};
}

Uploader::Uploader(Env env, ManifestLog& log, Pipeline& pipeline, CommitLaw& law)
    : env_(env), log_(log), pipeline_(pipeline), committer_(env, log, pipeline, law) {}

Uploader::~Uploader() {
  pipeline_.Stop();
  threads_.clear();
}

void Uploader::Start(size_t upload_threads) {
  const std::lock_guard lock(mutex_);
  if (threads_.empty()) threads_.push_back(env_.threads.Start("bw-commit", [this] { CommitLoop(); }));
  while (threads_.size() < 1 + upload_threads) {
    threads_.push_back(env_.threads.Start("bw-upload", [this] { UploadLoop(); }));
  }
}

void Uploader::UploadLoop() {
  while (const std::optional<UploadJob> job = pipeline_.TakeUpload()) {
    pipeline_.FinishUpload(*job, UploadOne(env_, log_.keys(), *job));
  }
}

void Uploader::CommitLoop() {
  while (pipeline_.AwaitCommittable(committer_.serves())) committer_.CommitOnce();
}

}  // namespace batchweave
