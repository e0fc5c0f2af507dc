// What the threads of a process with producers do, one call after the other in one thread.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "batchweave/producer/combining_law.h"
#include "batchweave/producer/committer.h"
#include "batchweave/producer/open_producer.h"
#include "batchweave/producer/uploader.h"
#include "batchweave/testing/matchers.h"
#include "batchweave/testing/stream_builder.h"
#include "batchweave/testing/test_env.h"

namespace batchweave {

inline GlobalBatch OneSlice(std::string_view text) {
  GlobalBatch batch({.dp = 1, .cp = 1});
  EXPECT_THAT(batch.SetCopy({}, AsBytes(text)), IsOk());
  return batch;
}

// One process on the stream of `stream`: what ProducerHost holds, without its threads.
class ProducerProcess {
 public:
  ProducerProcess(TestEnv& env, ObjectStore& store, const StreamBuilder& stream)
      : env_(env.Over(store)),
        log_(env_, stream.keys(), stream.stream_json_hash()),
        pipeline_(env_),
        committer_(env_, log_, pipeline_, law_) {}

  Result<ProducerRef> Open(std::string name, ProducerOptions options = {}) {
    const OpenedProducer opened = BW_TRY(CommitOpening(log_, name, options.reopen, kForever));
    // Shared: see ProducerRef.
    ProducerRef producer = std::make_shared<ProducerState>(std::move(name), opened, options);
    pipeline_.Add(producer);
    return producer;
  }
  Result<uint64_t> Publish(const ProducerRef& producer, uint64_t number) {
    const std::string text = std::to_string(number);
    return pipeline_.Enqueue(*producer, OneSlice("batch " + text), {.cursor = ToBytes(text)});
  }
  // Tries the oldest upload until it is made.
  void Upload(const ProducerRef& producer) {
    const uint64_t bytes = pipeline_.StatsOf(*producer).pending_bytes;
    while (pipeline_.StatsOf(*producer).pending_bytes == bytes) {
      const std::optional<UploadJob> job = pipeline_.TakeUpload();
      pipeline_.FinishUpload(*job, UploadOne(env_, log_.keys(), *job));
    }
  }
  void Commit() { committer_.CommitOnce(); }
  // Publishes and uploads.
  void Provide(const ProducerRef& producer, uint64_t number) {
    ASSERT_THAT(Publish(producer, number), IsOk());
    Upload(producer);
  }
  bool IsCommitted(const ProducerRef& producer) {
    return pipeline_.CommittedSeqOf(*producer) == pipeline_.StatsOf(*producer).published;
  }
  Pipeline& pipeline() { return pipeline_; }
  CommitLaw& law() { return law_; }

 private:
  const Env env_;
  ManifestLog log_;
  Pipeline pipeline_;
  CombiningLaw law_;
  Committer committer_;
};

}  // namespace batchweave
