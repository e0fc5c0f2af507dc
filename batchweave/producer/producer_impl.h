// What a Producer handle holds; for producer.cc and producer_host.cc only.
#pragma once

#include <utility>

#include "batchweave/log/deletion.h"
#include "batchweave/producer/lead_limit.h"
#include "batchweave/producer/pipeline.h"
#include "batchweave/producer/producer.h"
#include "batchweave/producer/uploader.h"

namespace batchweave {

class Producer::Impl {
 public:
  Impl(ManifestLog& log, Pipeline& pipeline, Uploader& uploader, ProducerRef state)
      : pipeline_(pipeline),
        uploader_(uploader),
        stream_id_(log.keys().stream_id),
        clock_(log.env().clock),
        state_(std::move(state)),
        lead_(log, {.steps_max = state_->options.max_lead_steps,
                    .bytes_max = state_->options.max_lead_bytes,
                    .producer = state_->name,
                    .incarnation = state_->opened.incarnation}),
        deletion_(log) {}

  // Waits until the readers are near enough. Errors: kStalled, the end of the producer, those of the log.
  Result<void> AwaitLead();

  Pipeline& pipeline_;
  Uploader& uploader_;
  const StreamId stream_id_;
  Clock& clock_;
  const ProducerRef state_;
  LeadLimit lead_;
  DeletionWatch deletion_;  // Sees all that a user is told of a wait or a commit.
};

}  // namespace batchweave
