// The threads of the producers of one process: some that upload, one that commits. A thin shell: every decision and
// every state is in pipeline.h and committer.h.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/log/manifest_log.h"
#include "batchweave/producer/committer.h"
#include "batchweave/producer/pipeline.h"

namespace batchweave {

// Packs and writes the object of one batch. Errors: as ObjectStore::Put, but never kAlreadyExists or kUnknownOutcome:
// the key is the batch's own, so that the same bytes may be sent again until it is there.
Result<void> UploadOne(Env env, const StreamKeys& keys, const UploadJob& job);

// Safe for concurrent use.
class Uploader {
 public:
  // All must outlive it. Starts nothing.
  Uploader(Env env, ManifestLog& log, Pipeline& pipeline, CommitLaw& law);
  ~Uploader();  // Stops the pipeline, and joins.

  // Makes sure that `upload_threads` and the committing thread run.
  void Start(size_t upload_threads);

 private:
  void UploadLoop();
  void CommitLoop();

  const Env env_;
  ManifestLog& log_;
  Pipeline& pipeline_;
  Committer committer_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace batchweave
