// What a Producer handle holds; for producer.cc and producer_host.cc only.
#pragma once

#include <utility>

#include "batchweave/producer/pipeline.h"
#include "batchweave/producer/producer.h"
#include "batchweave/producer/uploader.h"

namespace batchweave {

class Producer::Impl {
 public:
  Impl(Pipeline& pipeline, Uploader& uploader, StreamId stream_id, ProducerRef state)
      : pipeline_(pipeline), uploader_(uploader), stream_id_(stream_id), state_(std::move(state)) {}

  Pipeline& pipeline_;
  Uploader& uploader_;
  const StreamId stream_id_;
  const ProducerRef state_;
};

}  // namespace batchweave
