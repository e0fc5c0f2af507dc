// Everything that the producers of one process share on one stream: queues, threads and the committer.
//
// Safe for concurrent use. Must outlive its producers.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>

#include "batchweave/base/result.h"
#include "batchweave/log/manifest_log.h"
#include "batchweave/producer/combining_law.h"
#include "batchweave/producer/pipeline.h"
#include "batchweave/producer/producer.h"
#include "batchweave/producer/uploader.h"

namespace batchweave {

class ProducerHost {
 public:
  // Does no I/O and starts no thread. `log` must outlive the host. Users get the law `combining`; others are compared
  // with it.
  ProducerHost(Env env, ManifestLog& log, std::unique_ptr<CommitLaw> law = std::make_unique<CombiningLaw>());

  // Contract as Stream::OpenProducer.
  Result<Producer> Open(std::string_view producer, ProducerOptions options);

 private:
  Result<void> ProbeOnce();

  const Env env_;
  ManifestLog& log_;
  std::atomic<bool> probed_{false};
  Pipeline pipeline_;
  const std::unique_ptr<CommitLaw> law_;
  Uploader uploader_;
};

}  // namespace batchweave
